import { refusalOf } from './nomad.failures.js';

const items = (...texts: string[]) => `${texts.length} errors occurred:\n${texts.map((t) => `\t* ${t}\n`).join('')}\n`;

describe('what keeps a job from being registered is told with its field', () => {
  test.each([
    [
      '1 error occurred:\n\t* job "m8" is in nonexistent namespace "gp"\n\n',
      /^`namespace`: Nomad has no namespace gp: /,
    ],
    ['job "m8" is in nonexistent node pool "gp"', /node pool gp/],
    [items('Task group case validation failed: Unknown constraint type "~"'), /^`constraints`: .*type "~"$/],
    [items('Task case validation failed: minimum MemoryMB value is 10; got 1'), /^`resources.memoryMb`: .*got 1$/],
    [items('minimum CPU value is 1; got 0'), /^`resources.cpu`: /],
    [items('Missing job task groups', 'Job ID contains a space'), /refuses the job: Missing job task groups; Job ID/],
    ['2 error(s) occurred:\n\n\t* Missing job datacenters\n\t* x\u001b[31m\u202e', /^`datacenters`: .*; x \[31m$/],
    [items('y'.repeat(10_000)), /^.{500,600}$/],
  ])('%j', (text, message) => {
    expect(refusalOf({ status: 500, text }, true)).toMatchObject({
      reason: 'refused',
      message: expect.stringMatching(message),
    });
  });

  test('one that is too large is no other when it is sent again', () => {
    expect(refusalOf({ status: 413, text: 'http: request body too large' }, true).reason).toBe('refused');
  });
});

test.each([
  [500, 'No cluster leader', 'error'],
  [403, 'Job registration, dispatch, and scale are disabled by the scheduler configuration', 'error'],
  [500, 'boom: 1 error occurred', 'error'],
  [403, 'Permission denied', 'auth'],
])('%i %s is told as %s', (status, text, reason) => {
  expect(refusalOf({ status, text }, true).reason).toBe(reason);
});
