import { placementTimeout, waitingOf } from './nomad.placement.js';
import { JobEvaluations } from './nomad.replies.js';

const GPU_CLASS = `\${node.class} = gpu`;
const metrics = { NodesEvaluated: 4, NodesFiltered: 4, ConstraintFiltered: { [GPU_CLASS]: 4 } };

test('N15 the blocked evaluation is found among all of the job, and one that was cancelled is none', () => {
  const evaluations = JobEvaluations.parse([
    { ID: 'e1', Status: 'complete', CreateIndex: 1, FailedTGAllocs: { case: metrics }, BlockedEval: '' },
    {
      ID: 'e3',
      Status: 'canceled',
      CreateIndex: 3,
      StatusDescription: 'existing blocked evaluation exists for job "j"',
    },
    { ID: 'e2', Status: 'blocked', CreateIndex: 2, FailedTGAllocs: { case: metrics } },
  ]);
  const waiting = waitingOf({ Datacenters: ['*'] }, evaluations);
  expect(waiting).toEqual({ detail: `placement blocked: constraint \`${GPU_CLASS}\` not met by 4 nodes` });
  expect(placementTimeout(waiting?.detail, 120)).toEqual({
    code: 'PLACEMENT_TIMEOUT',
    message: expect.stringMatching(/within 120 s .*node.class/),
  });
});
