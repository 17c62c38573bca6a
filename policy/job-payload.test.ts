import { aCase, aHarness } from '../test/builders.js';
import type { JobSettings } from './job-parts.js';
import { jobPayload } from './job-payload.js';

const SETTINGS: JobSettings = {
  wrapper: '#!/bin/sh',
  timers: { setupSec: 600, graderSec: 300, graceSec: 2, lingerSec: 120 },
  answerLimit: 262_144,
  payloadLimit: 10_000,
};

const build = (parts: {
  case?: Record<string, unknown>;
  harness?: Record<string, unknown>;
  params?: Record<string, string>;
}) =>
  jobPayload(
    { runId: 'run_1', case: aCase(parts.case), harness: aHarness(parts.harness), params: parts.params ?? {} },
    SETTINGS,
  );
const text = (payload: Map<string, Uint8Array>, file: string) => new TextDecoder().decode(payload.get(file));

describe('jobPayload', () => {
  test('sets the repository up before the harness', () => {
    const env = { kind: 'repo', source: { files: { 'a.txt': 'x' } }, setup: ['echo repo'] };
    const payload = build({ case: { env }, harness: { setup: ['echo harness'] } });

    expect([text(payload, 'setup.1'), text(payload, 'setup.2')]).toEqual(['echo repo', 'echo harness']);
    expect(text(payload, 'files')).toBe('1 text a.txt\n');
  });

  test('sends the scripts of command graders, and nothing of the others', () => {
    const graders = [
      { kind: 'equals', value: 'the secret answer' },
      { kind: 'command', command: 'test -e out' },
    ];
    const payload = build({ case: { graders } });

    expect(text(payload, 'grader.1')).toBe('test -e out');
    expect([...payload.keys()].some((file) => text(payload, file).includes('the secret answer'))).toBe(false);
  });

  test('puts the context of a prompt before the task', () => {
    const payload = build({ case: { task: 'Sum them.', env: { kind: 'prompt', context: '1 2 3' } } });

    expect(text(payload, 'task')).toBe('1 2 3\n\nSum them.');
  });

  test('lets a parameter of the scorecard replace the one of the harness', () => {
    const payload = build({ harness: { params: { depth: 1, width: 2 } }, params: { depth: '9' } });

    expect(text(payload, 'env')).toContain("EVERDICT_PARAM_DEPTH='9'");
    expect(text(payload, 'env')).toContain("EVERDICT_PARAM_WIDTH='2'");
  });

  test.each([
    ['PAYLOAD_TOO_LARGE', { case: { task: 'x'.repeat(20_000) } }],
    ['SECRET_MISSING', { harness: { env: { KEY: { secretRef: 'model-key' } } } }],
  ])('refuses with %s', (code, parts) => {
    expect(() => build(parts)).toThrow(expect.objectContaining({ code }));
  });
});
