import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { readEnv } from '../config/env.js';
import { BARE_QUEUE } from './bare.js';

/** What a case costs on Temporal alone: the worker of workflows that do nothing but call this. */
const activities = { nothing: async (): Promise<void> => {} };
export type BareActivities = typeof activities;

const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = readEnv();
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  namespace,
  taskQueue: BARE_QUEUE,
  workflowsPath: fileURLToPath(new URL('./bare.workflows.js', import.meta.url)),
  activities,
  maxCachedWorkflows: 500,
});
const running = worker.run();
console.log('bare worker ready');
await running;
