import { aRun, everdict } from '../test/cli-fakes.js';

test('run list asks for what the filters say and shows what ran where', async () => {
  const items = [aRun({ id: 'run_2', scorecard: null }), aRun({ id: 'run_1', scorecard: null, outcome: 'passed' })];
  const words = ['run', 'list', '--state', 'settled', '--outcome', 'failed', '--limit', '2'];
  const { asked, out, exitCode } = await everdict(words, () => ({ body: { items, next: 'abc' } }));
  expect(asked[0]).toMatchObject({ path: '/runs', query: { state: 'settled', outcome: 'failed', limit: '2' } });
  expect(out.split('\n')).toEqual([
    'id     outcome  case      what                        created',
    'run_2  failed   math/sum  solver@1.0.0 on desk@1.0.0  2026-01-01T00:00:00',
    'run_1  passed   math/sum  solver@1.0.0 on desk@1.0.0  2026-01-01T00:00:00',
    'more: the same command with --cursor abc',
    '',
  ]);
  expect(exitCode).toBe(0);
});

test('run list says that there is none', async () => {
  const { out } = await everdict(['run', 'list'], () => ({ body: { items: [], next: null } }));
  expect(out).toBe('no such run\n');
});
