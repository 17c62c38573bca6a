import { LiveCase } from './live-case.js';
import { describeLive, Site } from './site.js';

const LINES = 260_000;
const LINE = 96;

describeLive('logs', () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  }, 120_000);
  afterAll(() => site.close(), 180_000);

  /** Numbered lines, some of them at a time. */
  const printing = (lines: number, perSecond: number): string =>
    `awk 'BEGIN { for (i = 0; i < ${lines}; i++) { printf "%07d %s\\n", i, "${'x'.repeat(LINE - 9)}"; if (i % ${perSecond} == 0) { fflush(); system("sleep 1") } } }'`;

  const expectLines = (output: string, lines: number): void => {
    const found = output.trimEnd().split('\n');
    expect(found.length).toBe(lines);
    expect(found.findIndex((line, index) => line !== `${String(index).padStart(7, '0')} ${'x'.repeat(LINE - 9)}`)).toBe(
      -1,
    );
  };

  test('K05 a log of 25 MB, which is rotated meanwhile, is told whole and once', async () => {
    const live = new LiveCase(site, site.backend(), { command: printing(LINES, 8_000) });
    const { outcome, output } = await live.run();
    expect(outcome).toBe('passed');
    expectLines(output, LINES);
  }, 300_000);

  test('what is left and followed anew goes on where it was', async () => {
    const backend = site.backend();
    const live = new LiveCase(site, backend, { command: printing(20_000, 2_000) });
    await live.submit();
    for (let from = 0, round = 0; live.events.at(-1)?.kind !== 'record'; round += 1) {
      if (round > 60) throw new Error('it does not end');
      await live.watchFor(700, from);
      from = live.output().length;
    }
    await live.stop();
    expectLines(live.output(), 20_000);
  }, 180_000);

  test('every byte is told: of no text, of long lines, of lines without an end', async () => {
    const command = `printf '\\000\\377\\n'; printf two; sleep 0.2; printf three; echo
      head -c 100000 /dev/zero | tr '\\000' y; echo; echo late >&2; printf 'no end'`;
    const live = new LiveCase(site, site.backend(), { command });
    const { outcome } = await live.run();
    const bytes = Buffer.concat(live.events.flatMap((event) => (event.kind === 'log' ? [event.bytes] : [])));
    expect(outcome).toBe('passed');
    const text = bytes.toString('latin1').replace('late\n', '');
    expect(text).toBe(`\u0000\u00ff\ntwothree\n${'y'.repeat(100_000)}\nno end`);
  }, 120_000);
});
