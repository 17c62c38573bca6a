import { createHash } from 'node:crypto';
import { LiveCase } from './live-case.js';
import { describeLive, Site } from './site.js';

const CASES = 100;
const AT_ONCE = 20;

describeLive('cases', () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  }, 120_000);
  afterAll(() => site.close(), 180_000);

  test('a hundred cases, twenty at a time, have the output, the answer and the exit code that they are to have', async () => {
    const backend = site.backend();
    const numbers = Array.from({ length: CASES }, (_, number) => number);
    const wrong: unknown[] = [];
    const waiting = [...numbers];
    const worker = async (): Promise<void> => {
      for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
        const told = createHash('sha256')
          .update(`${number}`)
          .digest('hex')
          .slice(0, 8 + (number % 50));
        const live = new LiveCase(site, backend, {
          task: `${told}\n\${X} $(Y) {{z}}`,
          files: { 'in.txt': `${number}\n` },
          command: `printf '%s' '${told}'; cat in.txt; head -n1 "$EVERDICT_TASK_FILE" >"$EVERDICT_ANSWER_FILE"; exit ${number % 7 === 0 ? number : 0}`,
        });
        const { outcome, output, record } = await live.run();
        const found = [record?.status, outcome, output.trimEnd(), Buffer.from(record?.answer ?? []).toString()];
        const status = number % 7 === 0 ? number : 0;
        const expected = [status, status === 0 ? 'passed' : 'failed', `${told}${number}`, `${told}\n`];
        if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push({ number, found, expected });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(wrong).toEqual([]);
    expect(await site.left()).toEqual([]);
  }, 600_000);

  test('a job is given its payload byte for byte, and no more of its cluster than it needs', async () => {
    const nasty = `{{ env "HOME" }} \${attr} $(HOME) $$(X) $$ %{ if } '"\\ \u0001 \n \r é🙂`;
    const live = new LiveCase(site, site.backend(), {
      task: nasty,
      files: { text: nasty, binary: { hex: '00ff0180'.repeat(20_000) }, empty: '' },
      env: { TPL: nasty },
      command: `cat text; printf '[%s]' "$TPL"; wc -c <binary; wc -c <empty
        env | sed -n 's/^\\(EVERDICT_NONCE\\)=.*/\\1/p'; ls /var/run/secrets 2>&1 | head -n1`,
    });
    const { outcome, output } = await live.run();
    expect(outcome).toBe('passed');
    expect(output).toContain(`${nasty}[${nasty}]80000\n0\n`);
    expect(output).not.toMatch(/EVERDICT_NONCE|serviceaccount/);
    expect(output).toMatch(/No such file/);
  }, 120_000);

  test('K27 it is stopped in whatever state it is, twice, and never existed', async () => {
    const backend = site.backend({ spec: { nodeSelector: { 'everdict-test': 'nowhere' } } });
    const somewhere = site.backend();
    const never = new LiveCase(site, somewhere, {});
    await never.stop();
    const unplaced = new LiveCase(site, backend, {});
    await unplaced.submit();
    const running = new LiveCase(site, somewhere, { command: 'sleep 300' });
    await running.submit();
    await running.running();
    const ended = new LiveCase(site, somewhere, { command: 'exit 3' });
    await ended.submit();
    await ended.watch();
    const starting = new LiveCase(site, somewhere, {});
    await starting.submit();
    const all = [unplaced, running, ended, starting];
    await Promise.all(all.map((live) => live.stop()));
    await Promise.all(all.map((live) => live.stop()));
    expect(await site.left()).toEqual([]);
  }, 120_000);
});
