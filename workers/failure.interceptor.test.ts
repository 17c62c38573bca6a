import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { PlatformError } from '../contracts/errors.js';
import { toFailure } from './failure.interceptor.js';

test.each([
  ['BAD_SPEC', true],
  ['NOT_FOUND', true],
  ['STORE_UNAVAILABLE', false],
  ['WRONG_HOST', false],
] as const)('%s is told by its code, and repeating it is of no use: %s', (code, nonRetryable) => {
  const failure = toFailure(
    new PlatformError(code, 'the runtime `x`', { secret: 'S3cr3t' }, { cause: new Error('S3cr3t') }),
  );
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({ type: code, message: 'the runtime `x`', nonRetryable, stack: '' });
  expect(JSON.stringify(failure)).not.toContain('S3cr3t');
});

test('other errors keep their name, a short message and no stack', () => {
  const failure = toFailure(new TypeError(`line\n\u001b[31m${'x'.repeat(2_000)}`));
  expect(failure).toMatchObject({ type: 'TypeError', nonRetryable: false, stack: '' });
  expect((failure as ApplicationFailure).message).toHaveLength(500);
  expect((failure as ApplicationFailure).message).not.toMatch(/\p{Cc}/u);
});

test('what the SDK itself throws passes unchanged', () => {
  const cancelled = new CancelledFailure('CANCELLED');
  expect(toFailure(cancelled)).toBe(cancelled);
});
