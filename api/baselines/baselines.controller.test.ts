import { DataSource } from 'typeorm';
import { ScorecardId } from '../../contracts/ids.js';
import { BaselineStore } from '../../store/baseline.store.js';
import { BaselinesController } from './baselines.controller.js';
import { BaselinesService } from './baselines.service.js';

const SCORECARD = ScorecardId.parse('sc_01k5q8zj3v0000000000000000');
/** Of a database that nobody asks. */
const baselines = new BaselinesController(
  new BaselinesService(new BaselineStore(new DataSource({ type: 'postgres', url: 'postgres://127.0.0.1:2/none' }))),
);

test.each([
  ['sc_x y', /name: is 1 to 63 characters of a-z 0-9/],
  ['', /name: is 1 to 63 characters/],
  [SCORECARD, /name: is the id of a scorecard/],
])('to pin under the bad name %j is a bad request that says which names are good', (name, why) => {
  const caller = { workspace: 'default', subject: 'key:1', role: 'admin', scope: 'write' } as const;
  expect(() => baselines.pin(caller, name, { scorecard: SCORECARD })).toThrow(
    expect.objectContaining({ code: 'BAD_REQUEST', message: expect.stringMatching(why) }),
  );
});
