import { aLab, type Lab, printed, REF, recordText, watched } from '../../test/nomad-jobs.js';
import { ALLOCATION_ID, anAllocation, ScriptedNomad } from '../../test/scripted-nomad.js';

const LOGS = `/v1/client/fs/logs/${ALLOCATION_ID}`;

let nomad: ScriptedNomad;
let lab: Lab;
beforeAll(async () => {
  nomad = await ScriptedNomad.start();
  lab = aLab(nomad.url);
  // With so many jobs a pause between two looks is longer than these tests.
  lab.client.budget.watched = 100_000;
});
beforeEach(() => {
  nomad.reset().allocations([anAllocation()]);
});
afterAll(async () => {
  await lab.client.close();
  await nomad.stop();
});

test('a job that always has something to print is looked at no more often than another', async () => {
  const ending = new AbortController();
  nomad.on(`GET ${LOGS}`, (request) => {
    nomad.stdout += 'on and on';
    setTimeout(() => ending.abort(), 300);
    return nomad.logs(request);
  });
  const events = await watched(lab, REF, { signal: ending.signal });
  expect([printed(events), nomad.seen('GET', LOGS).length]).toEqual(['on and on', 1]);
});

test('what is longer than one answer is read without a pause', async () => {
  const all = 'x'.repeat(5 * 1_024 * 1_024);
  nomad.stdout = `${all}\n${recordText()}`;
  nomad.on(`GET ${LOGS}`, (request) => {
    const offset = Number(request.query.get('offset'));
    const stdout = nomad.stdout.slice(offset, offset + 2_200_000);
    const frames = Array.from({ length: Math.ceil(stdout.length / 65_536) }, (_, at) => ({
      Data: Buffer.from(stdout.slice(at * 65_536, (at + 1) * 65_536)).toString('base64'),
      File: 'alloc/logs/case.stdout.0',
      Offset: offset + at * 65_536,
    }));
    return {
      body: request.query.get('type') === 'stdout' ? frames.map((frame) => JSON.stringify(frame)).join('') : '',
    };
  });
  const events = await watched(lab);
  expect([printed(events) === `${all}\n`, events.at(-1)?.kind]).toEqual([true, 'record']);
});

test('a log that is out of reach is asked for ever more seldom', async () => {
  const { budget } = lab.client;
  const { watched: others } = budget;
  budget.watched = 0;
  const ending = new AbortController();
  nomad.on(`GET ${LOGS}`, { status: 404, body: 'No path to node' });
  const timer = setTimeout(() => ending.abort(), 4_000);
  await watched(lab, REF, { signal: ending.signal });
  clearTimeout(timer);
  budget.watched = others;
  // At the usual pace it would be twice as often.
  expect(nomad.seen('GET', LOGS).length).toBeLessThanOrEqual(12);
});
