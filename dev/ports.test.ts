import { createServer } from 'node:net';
import { choosePorts, whyTaken } from './ports.js';

test('a wanted port that is taken is replaced by one that follows it, and all differ', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const taken = address && typeof address !== 'string' ? address.port : 0;

  const chosen = await choosePorts({ a: taken, b: 0, c: 0 });
  expect(chosen.a).toBeGreaterThan(taken);
  expect(chosen.a).toBeLessThanOrEqual(taken + 10);
  expect(new Set(Object.values(chosen)).size).toBe(3);
  await new Promise((resolve) => server.close(resolve));
});

test('a wanted port that is free is kept', async () => {
  const { a } = await choosePorts({ a: 0 });
  expect(await choosePorts({ a })).toEqual({ a });
});

test('what holds a port is named by its pid and command line', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const taken = address && typeof address !== 'string' ? address.port : 0;

  expect(await whyTaken(taken)).toMatch(new RegExp(`^port ${taken} is taken by pid ${process.pid}, node`));
  await new Promise((resolve) => server.close(resolve));
  expect(await whyTaken(taken)).toBeUndefined();
});
