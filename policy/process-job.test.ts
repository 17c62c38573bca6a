import { aCase, aHarness, aProcess } from '../test/builders.js';
import { lifeLimit } from './life-limit.js';
import { programOf, shellFaults } from './process-job.js';

const TIMERS = { setupSec: 600, graderSec: 300, graceSec: 2, lingerSec: 120 };

describe('a process harness', () => {
  test('has its own variables, those of the run, and parameters with the word of the scorecard first', () => {
    const harness = aProcess({ entrypoint: ['/agent', '-v'], env: { A: '1' }, params: { depth: 1 }, model: 'm' });
    const parts = { runId: 'run_1', case: aCase({ id: 'a' }), harness, params: { depth: 2 } };

    expect(programOf(parts)).toEqual({
      entrypoint: ['/agent', '-v'],
      env: {
        ...{ A: '1', EVERDICT_RUN_ID: 'run_1', EVERDICT_CASE_ID: 'a', EVERDICT_MODEL: 'm' },
        EVERDICT_PARAM_DEPTH: '2',
      },
    });
    expect(programOf({ ...parts, harness: aHarness() })).toBeUndefined();
  });

  test('takes no case with scripts, and names each', () => {
    const evalCase = aCase({
      env: { kind: 'repo', source: { files: {} }, setup: ['make'] },
      graders: [{ kind: 'exit-code' }, { kind: 'command', command: 'make test' }],
    });

    expect(shellFaults(evalCase, aProcess()).map(({ path }) => path)).toEqual(['graders[1]', 'env.setup']);
    expect(shellFaults(evalCase, aHarness())).toEqual([]);
    expect(shellFaults(aCase({ graders: [{ kind: 'equals', value: 'x' }] }), aProcess())).toEqual([]);
  });

  test('is ended by the platform at its time-out; a command only once it has outlived all its timers', () => {
    const evalCase = aCase({ timeoutSec: 5, graders: [{ kind: 'command', command: 'true' }] });
    const own = lifeLimit(evalCase, aProcess(), TIMERS);

    expect([own.ms, own.reason(5_040)]).toEqual([5_000, 'stopped after 5.0 s: `timeoutSec` is 5']);
    expect(lifeLimit(evalCase, aHarness(), TIMERS).ms).toBe((600 + 5 + 300 + 6 + 60) * 1_000);
  });
});
