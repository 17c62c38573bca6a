import { randomUUID } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import type { Answer } from '../../dev/fake-http/fake-answer.js';
import { aCaseJob, aCaseRef, printedRecord } from '../../test/cases.js';
import { event, rawAllocation, STARTED, terminated } from '../../test/nomad-allocations.js';
import { runCase, runOn, TOKEN, withBackend } from '../../test/nomad-case.js';
import { type Script, ScriptedCases } from '../../test/nomad-script.js';
import type { AllocationEvent } from '../backend.js';
import { metaOf } from './nomad.job.js';

let nomad: ScriptedCases;
beforeAll(async () => {
  nomad = await ScriptedCases.start();
});
afterAll(() => nomad.stop());

const says = (status: number, body: string): Answer => ({ status, body });
const an = (parts: object, ...events: object[]) => rawAllocation({ ID: randomUUID(), ...parts }, ...events);
const running = () => an({ ClientStatus: 'running' }, STARTED);
const ended = (exitCode: string) => an({}, STARTED, terminated(exitCode));
const passing = (): Script => ({ allocations: [[running()]], logs: [printedRecord()] });
const on = <Result>(work: Parameters<typeof withBackend<Result>>[2]) => withBackend(nomad.url, {}, work);
const registers = (name: string) => nomad.about(name).filter(({ method }) => method === 'PUT');
const deletes = (name: string) => nomad.about(name).filter(({ method }) => method === 'DELETE');
const watching = (signal = AbortSignal.timeout(30_000)) => ({
  from: { stdout: 0, stderr: 0 },
  signal,
  limitMs: 3_600_000,
});

describe('N23 a job is registered once for an attempt', () => {
  test('another try of the same attempt adopts it, whatever has become of it', async () => {
    for (const allocation of [running(), ended('1')]) {
      const { ref, owner } = aCaseRef();
      nomad.script(ref.name, { allocations: [[allocation]], logs: [printedRecord(1)] });
      await on(async (backend) => {
        expect(await backend.submit(aCaseJob(owner), ref)).toBe('created');
        expect(await backend.submit(aCaseJob(owner), ref)).toBe('adopted');
        expect(await backend.submit(aCaseJob(owner), { ...ref, submittedAt: 1 })).toBe('adopted');
      });
      expect(registers(ref.name).length).toBe(1);
    }
  });

  test('two tries at once make one job', async () => {
    const { ref, owner } = aCaseRef();
    nomad.script(ref.name, passing());
    const tried = await on((backend) => Promise.all([1, 2, 3].map(() => backend.submit(aCaseJob(owner), ref))));
    expect(tried.map(String).sort()).toEqual(['adopted', 'adopted', 'created']);
  });
});

test.each(['suite a/b?c#1', 'x/plan', 'é/🙂', 'y'.repeat(300)])(
  'N25 a case of any id is read, and removed, by a plain name: %#',
  async (caseId) => {
    const { ref, owner } = aCaseRef();
    nomad.script(ref.name, passing());
    await on(async (backend) => {
      await backend.submit(aCaseJob({ ...owner, caseId }), ref);
      await backend.stop(ref);
    });
    const { Job } = JSON.parse(registers(ref.name)[0]?.body ?? '');
    expect(Job).toMatchObject({ ID: ref.name, Meta: { case: caseId } });
    expect(Job.ID).toMatch(/^[a-z0-9-]{1,63}$/);
    expect(deletes(ref.name).length).toBe(1);
  },
);

describe('N29 connections', () => {
  const BUSY = 'Your IP is issuing too many concurrent connections, please rate limit your calls\n';

  test.each<[string, Answer]>([
    ['429', { status: 429, body: BUSY, headers: { connection: 'close' } }],
    ['a cut', 'reset'],
  ])('that are refused (%s) delay a case, and fail none', async (_title, fault) => {
    const found = await Promise.all(
      Array.from({ length: 10 }, () => runCase(nomad, { ...passing(), faults: [fault, fault] })),
    );
    expect(new Set(found.map(({ outcome }) => outcome))).toEqual(new Set(['passed']));
  });

  test('of 150 cases at once stay within the budget, and end with them', async () => {
    const busy = await ScriptedCases.start();
    try {
      await withBackend(busy.url, {}, async (backend) => {
        const cases = Array.from({ length: 150 }, () => runOn(backend, busy, passing()));
        expect(new Set((await Promise.all(cases)).map(({ outcome }) => outcome))).toEqual(new Set(['passed']));
      });
      expect(busy.connections.peak).toBeLessThanOrEqual(20);
      while (busy.connections.now > 0) await after(5);
    } finally {
      await busy.stop();
    }
  });
});

describe('D35 nothing is purged; what lives is deregistered, and what is dead is left', () => {
  test.each<[string, Script, number]>([
    ['one that passes', passing(), 1],
    ['one that ended', { allocations: [[ended('1')]], logs: [printedRecord(1)] }, 0],
    ['one whose log cannot be read', { allocations: [[ended('0')]], logs: [says(404, 'Unknown allocation "A"')] }, 0],
    ['one that starts too late', { allocations: [[an({ ClientStatus: 'pending' }, event('Received'))]] }, 1],
  ])('%s', async (_title, script, times) => {
    const { requests } = await runCase(nomad, script, { patience: { startMs: 200, pullErrorMs: 100 } });
    expect(requests.filter(({ method }) => method === 'DELETE').length).toBe(times);
  });

  test('what never was is removed already', async () => {
    const { ref } = aCaseRef();
    await on((backend) => backend.stop(ref));
    expect(deletes(ref.name)).toEqual([]);
  });
});

describe('D37 a cancel', () => {
  test('before the watch asks for nothing', async () => {
    const { ref } = aCaseRef();
    await on(async (backend) => {
      for await (const _ of backend.watch(ref, watching(AbortSignal.abort()))) throw new Error('it watches');
    });
    expect(nomad.about(ref.name)).toEqual([]);
  });

  test('while it is watched ends the watch, and removes that job alone', async () => {
    const { ref, owner } = aCaseRef();
    nomad.script(ref.name, { allocations: [[running()]], logs: ['on and on\n'] });
    const cancel = new AbortController();
    const kinds: string[] = [];
    await on(async (backend) => {
      await backend.submit(aCaseJob(owner), ref);
      for await (const { kind } of backend.watch(ref, watching(cancel.signal))) {
        kinds.push(kind);
        if (kind === 'log') setImmediate(() => cancel.abort());
      }
      await backend.stop(ref);
    });
    expect(kinds).toEqual(['placed', 'log']);
    expect(deletes(ref.name).map(({ path }) => path)).toEqual([`/v1/job/${ref.name}`]);
  });
});

describe('D39 after a restart, under the name of the attempt', () => {
  const submitted = async (
    script: Script,
    meta?: (owner: ReturnType<typeof aCaseRef>['owner']) => object,
    confirmed = false,
  ) => {
    const { ref, owner } = aCaseRef();
    nomad.script(ref.name, script, meta && { ID: ref.name, Meta: meta(owner) });
    const allocation = confirmed ? { ...ref, submittedAt: 1 } : ref;
    const found = await on((backend) => backend.submit(aCaseJob(owner), allocation).catch((error: unknown) => error));
    return { found, registers: registers(ref.name).length, ref };
  };

  test('absent, and never confirmed: it is made', async () => {
    expect(await submitted(passing())).toMatchObject({ found: 'created', registers: 1 });
  });

  test('absent, and confirmed: it is lost', async () => {
    expect(await submitted(passing(), undefined, true)).toMatchObject({ found: 'lost', registers: 0 });
  });

  test('there, and not ours: the name is taken', async () => {
    const theirs = () => ({ deployment: 'other' });
    expect(await submitted(passing(), theirs)).toMatchObject({ found: 'taken', registers: 0 });
    expect(await submitted(passing(), () => ({}))).toMatchObject({ found: 'taken', registers: 0 });
  });

  test.each<[string, () => object]>([
    ['running', running],
    ['dead, its log there', () => ended('0')],
  ])('there, ours and %s: it is adopted, and its result is kept', async (_title, make) => {
    const script = { allocations: [[make()]], logs: [printedRecord()] };
    const { found, registers, ref } = await submitted(script, metaOf, true);
    expect({ found, registers }).toEqual({ found: 'adopted', registers: 0 });
    const events: AllocationEvent[] = [];
    await on(async (backend) => {
      for await (const event of backend.watch(ref, watching())) events.push(event);
    });
    expect(events.at(-1)).toMatchObject({ kind: 'record', record: { status: 0 } });
  });

  test.each<[string, Answer]>([
    ['403', says(403, 'Permission denied')],
    ['404 of something else', says(404, '404 page not found')],
  ])('what is not known (%s) is not made', async (_title, read) => {
    const { found, registers } = await submitted({ ...passing(), read });
    expect(found).toBeInstanceOf(Error);
    expect(String(found)).not.toContain(TOKEN);
    expect(registers).toBe(0);
  });
});

test('D41 an attempt that ended before its job was made gets none; else the next try makes it under the same name', async () => {
  const { ref, owner } = aCaseRef();
  nomad.script(ref.name, passing());
  await on(async (backend) => {
    expect(await backend.submit(aCaseJob(owner), ref, async () => false)).toBe('over');
    expect(registers(ref.name)).toEqual([]);
    expect(await backend.submit(aCaseJob(owner), ref, async () => true)).toBe('created');
  });
  expect(JSON.parse(registers(ref.name)[0]?.body ?? '')).toMatchObject({
    Job: { ID: ref.name },
    EnforceIndex: true,
    JobModifyIndex: 0,
  });
});

test('E13 D39 a Nomad that does not answer, or answers 500, is given up in time, and holds up no other', async () => {
  const hung = aCaseRef();
  const broken = aCaseRef();
  nomad.script(hung.ref.name, { ...passing(), list: 'hang', deregister: 'hang' });
  nomad.script(broken.ref.name, { ...passing(), read: says(500, 'boom') });
  const garbled = aCaseRef();
  nomad.script(garbled.ref.name, { ...passing(), read: says(200, 'hello') });
  let isUnderWay = true;
  await on(async (backend) => {
    await backend.submit(aCaseJob(hung.owner), hung.ref);
    const watched = (async () => {
      for await (const _ of backend.watch(hung.ref, watching())) throw new Error('it is heard of');
    })();
    const trouble = Promise.allSettled([
      watched.finally(() => {
        isUnderWay = false;
      }),
      backend.stop(hung.ref),
      backend.submit(aCaseJob(broken.owner), broken.ref),
      backend.submit(aCaseJob(garbled.owner), garbled.ref),
    ]);
    const others = await Promise.all(Array.from({ length: 19 }, () => runOn(backend, nomad, passing())));
    expect(others.map(({ outcome }) => outcome)).toEqual(Array(19).fill('passed'));
    expect(isUnderWay).toBe(true);
    expect((await trouble).map((settled) => settled.status === 'rejected' && settled.reason.reason)).toEqual([
      'unreachable',
      'unreachable',
      'error',
      'error',
    ]);
  });
  expect([...registers(broken.ref.name), ...registers(garbled.ref.name)]).toEqual([]);
}, 40_000);
