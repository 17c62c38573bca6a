import { logTroubleOf } from './nomad.log-status.js';

const ID = '0f6a1c1e-4d0e-4000-8000-0123456789ab';

test.each<[number, string, string]>([
  [404, 'task "case" not started yet. No logs available', 'not-started'],
  [404, `Unknown allocation "${ID}"`, 'gone'],
  [500, `rpc error: Unknown allocation "${ID}"`, 'gone'],
  [404, `state for allocation ${ID} not found on client`, 'gone'],
  [500, `failed to list entries: open /srv/nomad/alloc/${ID}/alloc/logs: no such file or directory`, 'gone'],
  [200, `failed to list entries: open /srv/nomad/alloc/${ID}/alloc/logs: no such file or directory`, 'gone'],
  [500, 'failed to list entries: open C:\\nomad\\alloc: The system cannot find the path specified.', 'gone'],
  [400, 'Unknown node "b7a1c1de-58f3-4cf4-8d6e-0a4c1f9b2e00"', 'gone'],
  [400, 'unknown task name "case"', 'gone'],
  [404, 'log entry for task "case" and log type "stdout" not found', 'gone'],
  [404, 'No path to node', 'unreachable'],
  [500, 'rpc error: No path to node', 'unreachable'],
  [500, 'No cluster leader', 'unreachable'],
  [500, 'No path to region', 'unreachable'],
  [429, 'Your IP is issuing too many concurrent connections, please rate limit your calls\n', 'unreachable'],
  [400, 'node is not running a Nomad Client', 'unreachable'],
  [500, 'failed to list entries: open /srv/nomad/alloc: permission denied', 'unreachable'],
  [502, '<html>Bad Gateway', 'unreachable'],
  [200, 'rpc error: session shutdown', 'unreachable'],
  [500, 'Permission denied', 'a refusal'],
  [403, 'Permission denied', 'a refusal'],
  [500, 'rpc error: ACL token expired', 'a refusal'],
  [400, 'must provide task name', 'a refusal'],
  [404, '404 page not found', 'a refusal'],
])('N01 N07 %i %s is %s', (status, text, kind) => {
  expect(logTroubleOf({ status, text })?.kind ?? 'a refusal').toBe(kind);
});

test.each([
  `failed to list entries: open /srv/nomad/alloc/${ID}/alloc/logs: no such file or directory`,
  'failed to stream "/srv/nomad/alloc/logs/case.stdout.0": input/output error',
  'failed to read C:\\srv\\nomad\\alloc: input/output error',
])('paths of the node are not passed on: %s', (text) => {
  const trouble = logTroubleOf({ status: 500, text });
  expect(trouble).toMatchObject({ text: expect.not.stringMatching(/srv|nomad[\\/]/) });
});
