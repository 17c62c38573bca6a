import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE } from '../e2e/platform.js';
import { eventually } from '../eventually.js';
import { randomFor, SEED } from '../seeded.js';
import { allPassed, ECHO, echoes } from './echoes.js';
import { NomadSite } from './nomad-site.js';

let site: NomadSite | undefined;
afterEach(async () => {
  await site?.stop();
  site = undefined;
}, 2 * MINUTE);

test(
  'a Nomad that is down for a third of what is borne delays a batch and fails none of its cases',
  async () => {
    const [cases, slots, downMs] = [60, 6, 30_000];
    site = await NomadSite.start({ gcMaxAllocs: 2, seed: SEED }, { EVERDICT_UNREACHABLE_SEC: '90' });
    const { platform, nomad } = site;
    const random = randomFor('an outage of Nomad');
    const request = await site.register(
      slots,
      ECHO,
      echoes(cases, () => random(0, 30) / 10),
      // Shorter than the outage, which does not count.
      { placementPatienceSec: 10 },
    );
    const id = await platform.submit(request);
    for (const [how, after] of [
      ['refused', 15],
      ['hang', 35],
    ] as const) {
      await eventually(`${after} jobs have started`, async () => nomad.ledger.starts.size >= after, 2 * MINUTE);
      await nomad.pause(how);
      await sleep(downMs);
      expect((await platform.scorecard(id)).counts.errored).toBe(0);
      await nomad.resume();
    }
    await platform.until(id, 'completes', ({ status }) => status === 'completed', 4 * MINUTE);
    expect((await platform.scorecard(id)).counts).toEqual(allPassed(cases));
    await platform.expectNothingLeft(id, request.runtime);
    expect(site.faults).toEqual([]);
  },
  8 * MINUTE,
);

const LINES = 4_000;
const LINE = 'a line of the output that nobody may lose';
/** They go on until all of them run. */
const PATIENT = `i=0
while [ $i -lt ${LINES} ]; do i=$((i + 1)); echo "$i ${LINE}"; done
while ! [ -e "$EVERDICT_TASK" ]; do sleep 1; done`;

test(
  'two hundred cases at once keep to the connections a worker may have, and lose no output',
  async () => {
    const [half, connections] = [100, 20];
    site = await NomadSite.start({ gcMaxAllocs: 2, seed: SEED });
    const { platform, nomad } = site;
    const sign = path.join(platform.dir, 'all-run');
    const cases = Array.from({ length: half }, (_, i) => ({ id: `case/${i}`, task: sign }));
    const request = await site.register(2 * half, PATIENT, cases);
    // A scorecard has a hundred cases in flight for each 500 that it has.
    const ids = [await platform.submit(request), await platform.submit(request)];
    await eventually('all run at once', async () => nomad.ledger.running === 2 * half, 4 * MINUTE);
    writeFileSync(sign, '');
    for (const id of ids) {
      await platform.until(id, 'completes', ({ status }) => status === 'completed', 4 * MINUTE);
      expect((await platform.scorecard(id)).counts).toEqual(allPassed(half));
      await platform.expectNothingLeft(id, request.runtime);
    }
    expect(nomad.ledger.peakConnections).toBeLessThanOrEqual(connections);
    const whole = Array.from({ length: LINES }, (_, i) => `${i + 1} ${LINE}\n`).join('').length;
    const kept = await platform.sql<{ bytes: number; runs: number }>(
      `SELECT bytes, count(*)::int AS runs FROM (
         SELECT run_id, sum(octet_length(bytes))::int AS bytes FROM log_chunks WHERE stream = 'stdout' GROUP BY run_id
       ) kept GROUP BY bytes`,
    );
    expect(kept).toEqual([{ bytes: whole, runs: 2 * half }]);
    expect(site.faults).toEqual([]);
  },
  12 * MINUTE,
);
