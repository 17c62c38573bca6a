import { AsyncLocalStorage } from 'node:async_hooks';

const requests = new AsyncLocalStorage<string>();

/** The id of the request that caused what runs now, and goes on causing what is not waited for. */
export const currentRequestId = (): string | undefined => requests.getStore();

export const withRequestId = <T>(id: string, work: () => T): T => requests.run(id, work);
