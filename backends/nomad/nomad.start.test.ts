import { JobAllocations } from './nomad.replies.js';
import { startTimeout } from './nomad.start.js';
import { mayRun } from './nomad.status.js';

test('N13 what pulls its image is told to, by its allocation', () => {
  const Events = [{ Type: 'Received' }, { Type: 'Driver', DisplayMessage: 'Downloading image' }];
  const tasks = { case: { State: 'pending', Events } };
  const [allocation] = JobAllocations.parse([{ ID: 'a', NodeName: 'n1', ClientStatus: 'pending', TaskStates: tasks }]);
  if (!allocation) throw new Error('there is none');
  expect(mayRun(allocation)).toBe(true);
  expect(startTimeout(allocation, 900)).toEqual({
    code: 'START_TIMEOUT',
    message: 'not started 900 s after it was placed: pulling its image on node n1 (Downloading image)',
  });
});
