import { sessionAnswer } from './session-answer.js';

const paths = { total: 'max_browsers', used: '$.live["active"][0]' };

test.each<[string, unknown, unknown]>([
  ['both numbers', { max_browsers: 32, live: { active: [21] } }, { total: 32, used: 21 }],
  ['a pool that is full', { max_browsers: 2, live: { active: [2] } }, { total: 2, used: 2 }],
  ['a pool that has no session now', { max_browsers: 0, live: { active: [0] } }, { total: 0, used: 0 }],
  ['more taken than there are', { max_browsers: 2, live: { active: [3] } }, { failure: expect.stringMatching(/3.*2/) }],
  ['a negative total', { max_browsers: -1, live: { active: [0] } }, { failure: expect.stringMatching(/`total`/) }],
  ['a fraction', { max_browsers: 2.5, live: { active: [0] } }, { failure: expect.stringMatching(/`total`/) }],
  ['a number as text', { max_browsers: '2', live: { active: [0] } }, { failure: expect.stringMatching(/`total`/) }],
  ['a number beyond all counts', { max_browsers: 1e300, live: {} }, { failure: expect.stringMatching(/`total`/) }],
  ['nothing at the path', { max_browsers: 2, live: {} }, { failure: expect.stringMatching(/`used`/) }],
  ['negative use', { max_browsers: 2, live: { active: [-1] } }, { failure: expect.stringMatching(/`used`/) }],
  ['null', null, { failure: expect.stringMatching(/`total`/) }],
  ['no JSON at all', undefined, { failure: expect.stringMatching(/`total`/) }],
])('of %s', (_title, body, want) => {
  expect(sessionAnswer(body, paths)).toEqual(want);
});

test('a pool that does not say how many are taken is read by its total alone', () => {
  expect(sessionAnswer(7, { total: '$' })).toEqual({ total: 7 });
});
