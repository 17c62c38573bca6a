import { inspect } from 'node:util';
import { event, pullFailed, rawAllocation } from '../../test/nomad-allocations.js';
import { aJob, aLab, type Lab, REF, watched } from '../../test/nomad-jobs.js';
import { ALLOCATION_ID, type Scripted, ScriptedNomad, text } from '../../test/scripted-nomad.js';
import { NomadLogTail } from './nomad.log.js';

const TOKEN = '5ec3e700-aaaa-4bbb-8ccc-dddddddddddd';

let nomad: ScriptedNomad;
let lab: Lab;
beforeAll(async () => {
  nomad = await ScriptedNomad.start();
  lab = aLab(nomad.url, { token: TOKEN });
});
beforeEach(() => {
  nomad.reset();
});
afterAll(async () => {
  await lab.client.close();
  await nomad.stop();
});

/** It tells of the mask, in place of the token. */
function expectMasked(told: unknown): void {
  expect(nomad.requests.at(-1)?.token).toBe(TOKEN);
  const all = inspect(told, { depth: 10, maxStringLength: null });
  expect(all).toContain('*****');
  expect(all).not.toContain(TOKEN);
}

test('a token that a task event repeats does not come back', async () => {
  const failing = () => rawAllocation({ ID: ALLOCATION_ID, ClientStatus: 'pending' }, pulled, event('Restarting'));
  const pulled = pullFailed(`unauthorized for X-Nomad-Token: ${TOKEN}`);
  nomad.allocations([failing()]);
  const events = await watched(lab);
  expect(events.at(-1)).toMatchObject({ kind: 'failed', failure: { code: 'IMAGE_UNAVAILABLE' } });
  expectMasked(events);
});

const echo = (status: number, before: string, headers?: Record<string, string>): ((request: object) => Scripted) => {
  return (request) => {
    const answer = text(status, `${before}bad gateway, sent were ${JSON.stringify(request)}`);
    return headers ? { ...answer, headers } : answer;
  };
};

test.each<[string, ReturnType<typeof echo>]>([
  ['in place of a log', echo(502, '')],
  ['at the end of a log', echo(200, '{}', { 'content-type': 'application/json' })],
])('a token that an error repeats does not come back: %s', async (_title, route) => {
  nomad.on(`GET /v1/client/fs/logs/${ALLOCATION_ID}`, route);
  const of = { client: lab.client, allocation: ALLOCATION_ID, task: 'case', stream: 'stdout' as const };
  const { signal } = new AbortController();
  const read = await new NomadLogTail({ ...of, from: 0, fileBytes: 1_000 }).next(signal);
  expect(read.kind).toBe('unreachable');
  expectMasked(read);
});

test('a token that a refusal repeats does not come back', async () => {
  nomad.on(`GET /v1/job/${REF.name}`, text(404, 'job not found'));
  nomad.on('PUT /v1/jobs', text(500, `1 error occurred:\n\t* Unknown constraint type "${TOKEN}"\n\n`));
  const found = await lab.backend.submit(aJob(), REF).catch((error: unknown) => error);
  expect(found).toMatchObject({ reason: 'refused' });
  expectMasked(found);
});
