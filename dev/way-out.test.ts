import { withWayOut } from './way-out.js';

test.each([
  ["EACCES: permission denied, open '/d/temporal.db'", /\nEverything in \/d must belong to the user that starts it/],
  ["worker ended while it started: EROFS: read-only file system, open '/d/state/x'\nMore", /\nEverything in \/d must/],
  ['ENOSPC: no space left on device, write', /\nThe disk is full: make room and start again\./],
])('%s is followed by the way out', (message, wayOut) => {
  const told = withWayOut(new Error(message), '/d') as Error;
  expect(told.message.startsWith(message)).toBe(true);
  expect(told.message).toMatch(wayOut);
});

test('any other failure stays as it is', () => {
  const error = new Error('the port is taken');
  expect(withWayOut(error, '/d')).toBe(error);
});
