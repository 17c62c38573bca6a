import { readFileSync } from 'node:fs';
import { FakeNomad } from '../../dev/fake-nomad/fake-nomad.js';
import { aJob, aLab, type Lab, printed, REF, watched } from '../../test/nomad-jobs.js';

let nomad: FakeNomad;
let lab: Lab;
beforeAll(async () => {
  nomad = await FakeNomad.start();
  lab = aLab(nomad.url, { driver: 'raw_exec' });
});
afterAll(async () => {
  await lab.client.close();
  await nomad.stop();
});

const text = (value: string): Buffer => Buffer.from(value);
const payload = new Map([
  ['wrapper.sh', readFileSync('wrapper/wrapper.sh')],
  ['settings', text('linger_sec=60\n')],
  ['env', text('')],
  ['files', text('')],
  ['task', text('t')],
  ['command', text('echo out; echo err >&2; exit 3\n')],
]);

test('a case runs on the cluster, and its job is ended once its record is in hand', async () => {
  expect(await lab.backend.submit(aJob({ payload }), REF)).toBe('created');
  expect(await lab.backend.submit(aJob({ payload }), REF)).toBe('adopted');
  const events = await watched(lab);
  expect(events.at(-1)).toMatchObject({ kind: 'record', record: { status: 3 } });
  expect([printed(events), printed(events, 'stderr')]).toEqual(['out\n', 'err\n']);
  await lab.backend.stop(REF);
  await lab.backend.stop(REF);
  expect(nomad.unknown).toEqual([]);
});
