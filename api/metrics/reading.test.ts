import { setTimeout as sleep } from 'node:timers/promises';
import { Reading } from './reading.js';

const HOUR = 3_600_000;
const SECOND = 1_000;

/** A reading that counts how often it is made, and notes what fails. */
function aReading(everyMs: number, read: () => Promise<void> = async () => undefined) {
  const seen = { reads: 0, failures: [] as unknown[] };
  const counted = (): Promise<void> => {
    seen.reads += 1;
    return read();
  };
  return { seen, reading: new Reading('runs', everyMs, counted, (error) => seen.failures.push(error)) };
}

test('it is made at most once in its time, also for those who ask at once', async () => {
  const { seen, reading } = aReading(HOUR);
  await Promise.all([reading.refresh(SECOND), reading.refresh(SECOND)]);
  await reading.refresh(SECOND);
  expect(seen).toEqual({ reads: 1, failures: [] });
});

test('one that takes long is not repeated before twenty times as long', async () => {
  const { seen, reading } = aReading(0, async () => void (await sleep(100)));
  await reading.refresh(SECOND);
  await reading.refresh(SECOND);
  expect(seen.reads).toBe(1);
  expect(reading.durationMs).toBeGreaterThan(90);
});

test('nobody waits longer than asked, and one that hangs is not begun again', async () => {
  const { seen, reading } = aReading(0, () => new Promise(() => undefined));
  await reading.refresh(10);
  await reading.refresh(10);
  expect(seen.reads).toBe(1);
  expect(reading.ageMs).toBeGreaterThan(15);
});

test('one that fails is told, makes nothing younger, and is tried again in its time', async () => {
  const { seen, reading } = aReading(HOUR, () => Promise.reject(new Error('away')));
  await sleep(20);
  await reading.refresh(SECOND);
  await reading.refresh(SECOND);
  expect(seen).toEqual({ reads: 1, failures: [new Error('away')] });
  expect(reading.ageMs).toBeGreaterThan(15);
});
