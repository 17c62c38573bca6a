import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import type { Logger } from '@temporalio/worker';
import { SEARCH_ATTRIBUTES } from '../workflows/messages.js';

const PAUSE_MS = 500;
const SAY_EACH_MS = 5_000;
/** IndexedValueType of the API. */
const KEYWORD = 2;
const ALREADY_EXISTS = 6;

/** Repeats `work` until it holds, and says now and then what is waited for. */
export async function patiently<T>(what: string, log: Logger, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let saidAt = 0; ; ) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (performance.now() - saidAt > SAY_EACH_MS || saidAt === 0) {
        saidAt = performance.now();
        log.warn(`waiting for ${what}`, { error: error instanceof Error ? error.message : String(error) });
      }
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Registers what our workflows can be searched by, where the server does not know it yet. */
export async function registerSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { operatorService } = connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const names = Object.values(SEARCH_ATTRIBUTES).map(({ name }) => name);
  const missing = names.filter((name) => !Object.hasOwn(customAttributes ?? {}, name));
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  try {
    await operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another worker was faster.
    if ((error as { code?: number }).code !== ALREADY_EXISTS) throw error;
  }
}

export const connectClient = (address: string): Promise<Connection> =>
  Connection.connect({ address, connectTimeout: 5_000 });
