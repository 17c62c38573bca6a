import { anAllocation, ended, STARTED } from '../../test/nomad-allocations.js';
import { chooseAllocation, mayRun, provenanceOf, standingOf } from './nomad.status.js';

test.each([
  ['pending', 'pending', true],
  ['running', 'running', true],
  ['unknown', 'running', true],
  ['complete', 'ended', false],
  ['failed', 'ended', false],
  ['lost', 'ended', false],
  ['words of a later version', 'running', true],
])('an allocation that is %s counts as %s', (ClientStatus, standing, may) => {
  const allocation = anAllocation({ ClientStatus }, STARTED);
  expect(standingOf(allocation)).toBe(standing);
  expect(mayRun(allocation)).toBe(may);
});

describe('N17 the verdict belongs to one allocation', () => {
  const a = ended('0', { ID: 'a', CreateIndex: 3 });
  const b = anAllocation({ ID: 'b', CreateIndex: 9, ClientStatus: 'running' }, STARTED);

  test('to the first that was made, in whatever order they come', () => {
    expect(chooseAllocation([b, a], undefined)).toEqual({ allocation: a, others: [b] });
  });

  test('to the one that was seen, also when another one is left alone', () => {
    expect(chooseAllocation([a, b], 'b')).toEqual({ allocation: b, others: [a] });
    expect(chooseAllocation([b], 'a')).toEqual({ others: [b] });
    expect(chooseAllocation([], 'a')).toEqual({ others: [] });
  });

  test('others are told of', () => {
    expect(provenanceOf({ allocation: a, others: [b] })).toEqual({
      node: 'rack-1',
      nodeId: 'n1',
      allocation: 'a',
      anomalies: ['Nomad made another allocation of it, b (running): it does not count'],
    });
  });
});

test('N21 a task that was started more often than its job allows is told of', () => {
  const restarted = anAllocation({ TaskStates: { t: { State: 'running', Restarts: 2, Events: null } } });
  const { anomalies } = provenanceOf({ allocation: restarted, others: [] });
  expect(anomalies).toEqual(['Nomad started it 2 times more, which its job forbids']);
  expect(provenanceOf({ allocation: ended('0'), others: [] })).not.toHaveProperty('anomalies');
});
