import { Connection } from '@temporalio/client';
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

export const connectClient = (address: string): Promise<Connection> =>
  Connection.connect({ address, connectTimeout: 5_000 });
