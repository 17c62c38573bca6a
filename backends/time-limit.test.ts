import { withTimeLimit } from './time-limit.js';

const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener('abort', () => resolve(signal.reason));
  });

test('a limit that is used up aborts the work, and not the signal it was made from', async () => {
  const { signal } = new AbortController();
  await withTimeLimit(signal, 5, untilAborted);

  expect(signal.aborted).toBe(false);
});

test('a signal that aborts, or has aborted, aborts the work with its reason', async () => {
  const controller = new AbortController();
  const work = withTimeLimit(controller.signal, 60_000, untilAborted);
  controller.abort('asked');

  expect(await work).toBe('asked');
  expect(await withTimeLimit(controller.signal, 60_000, untilAborted)).toBe('asked');
});

test('work that ends in time gives its result', async () => {
  expect(await withTimeLimit(new AbortController().signal, 60_000, async () => 7)).toBe(7);
});
