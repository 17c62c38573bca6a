import { failureOf, kinds, labsAt, recordText, watched } from '../../test/nomad-jobs.js';
import { ALLOCATION_ID, anAllocation, exited, ScriptedNomad, text } from '../../test/scripted-nomad.js';
import type { AllocationEvent } from '../backend.js';

let nomad: ScriptedNomad;
const { lab } = labsAt(() => nomad.url);
beforeAll(async () => {
  nomad = await ScriptedNomad.start();
});
beforeEach(() => {
  nomad.reset();
});
afterAll(() => nomad.stop());

const LOGS = `/v1/client/fs/logs/${ALLOCATION_ID}`;

const LISTING = `/v1/client/fs/ls/${ALLOCATION_ID}`;
const notesOf = (events: readonly AllocationEvent[]) =>
  events.flatMap((event) => (event.kind === 'placed' ? [event.provenance.log] : []));

test('N05 a log whose size may not be read is told to be unverified, and its record counts', async () => {
  nomad.allocations([anAllocation()]);
  nomad.stdout = `hello\n${recordText()}`;
  expect(notesOf(await watched(lab()))).toEqual([undefined]);
  nomad.allocations([anAllocation()]);
  nomad.on(`GET ${LISTING}`, text(403, 'Permission denied'));
  const events = await watched(lab());
  expect(notesOf(events)).toEqual([undefined, 'unverified']);
  expect(events.at(-1)).toMatchObject({ kind: 'record' });
});

test('N05 a log that came without some of its lines is told anew, whole, before its record', async () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}\n`);
  const [record, whole] = [recordText(), lines.join('')];
  nomad.allocations([anAllocation()]);
  nomad.stdout = lines.toSpliced(500, 120).join('') + record;
  nomad.on(
    `GET ${LOGS}`,
    (request) => nomad.logs(request),
    (request) => {
      nomad.stdout = whole + record;
      return nomad.logs(request);
    },
  );
  const events = await watched(lab());
  const corrected = events.find((event) => event.kind === 'corrected');
  expect(Buffer.concat(corrected?.pieces.map(({ bytes }) => bytes) ?? []).toString() === whole).toBe(true);
  expect([kinds(events).at(-1), notesOf(events)]).toEqual(['record', [undefined]]);
});

test('G67 a record of which some lines are missing counts for nothing until it is whole', async () => {
  const record = recordText();
  const cut = record.split('\n').toSpliced(4, 2).join('\n');
  nomad.allocations([anAllocation({ ClientStatus: 'complete', TaskStates: exited(0) })]);
  const lacking = (request: Parameters<typeof nomad.logs>[0]) => {
    nomad.stdout = `hello\n${cut}`;
    const answer = nomad.logs(request);
    nomad.stdout = `hello\n${record}`;
    return answer;
  };
  nomad.on(`GET ${LOGS}`, lacking, (request) => nomad.logs(request));
  const events = await watched(lab());
  expect(events.at(-1)).toMatchObject({ kind: 'record' });
  expect(kinds(events)).toContain('corrected');

  nomad.on(`GET ${LOGS}`, lacking);
  expect(failureOf(await watched(lab()))).toMatchObject({ code: 'RESULT_LOST' });
});
