import { Connection } from '@temporalio/client';
import { refuseOldTemporal, type TemporalConnection } from '../config/temporal.js';
import { SEARCH_ATTRIBUTES } from '../workflows/messages.js';

/** IndexedValueType of the API. */
const KEYWORD = 2;
const ALREADY_EXISTS = 6;

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

export const connectClient = (options: TemporalConnection): Promise<Connection> =>
  Connection.connect({ ...options, connectTimeout: 5_000 });

/** A server that is too old will not get newer by waiting. */
export async function requireServer({ workflowService }: Connection, address: string): Promise<void> {
  const { serverVersion } = await workflowService.getSystemInfo({});
  refuseOldTemporal(serverVersion ?? '', address);
}
