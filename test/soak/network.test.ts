import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isAlive } from '../../dev/process-id.js';
import { E2ePlatform, MINUTE } from '../e2e/platform.js';
import type { TcpProxy } from '../tcp-proxy.js';
import { ProxiedStack } from './proxied-stack.js';
import { expectSurvival } from './survival.js';

/** How long nobody gets through. */
const AWAY_MS = 2_000;

let stack: ProxiedStack;
let platform: E2ePlatform;
beforeAll(async () => {
  platform = await E2ePlatform.start(async (options) => {
    stack = await ProxiedStack.start({ ...options, env: { ...options.env, EVERDICT_STATEMENT_SEC: '2' } });
    return stack;
  });
}, 2 * MINUTE);
afterAll(() => platform.stop(), MINUTE);

async function resetAndRefuse(proxy: TcpProxy): Promise<void> {
  proxy.reset();
  proxy.set('drop');
  await sleep(AWAY_MS);
  proxy.set('pass');
}

describe('every case has its one result, and the API and the worker go on, when connections', () => {
  test.each<[string, () => (() => Promise<void>)[]]>([
    [
      'to Postgres are reset, then refused, and later fall silent for good',
      () => [() => resetAndRefuse(stack.postgres), async () => stack.postgres.freeze()],
    ],
    ['to Temporal are reset, then refused', () => [() => resetAndRefuse(stack.temporal)]],
  ])(
    '%s',
    async (name, strikes) => {
      const before = ['api', 'worker'].map((part) => identify(stack.pids[part] ?? 0));
      await expectSurvival(platform, name.replaceAll(/[ ,]+/g, '-'), strikes());
      expect(before.every(isAlive)).toBe(true);
    },
    3 * MINUTE,
  );

  test('of whatever kind, and no error went uncaught', () => {
    const logs = ['api', 'worker'].map((name) => readFileSync(path.join(stack.logs, `${name}.log`), 'utf8'));
    expect(logs.join('\n')).not.toMatch(/uncaught|unhandled/i);
  });
});
