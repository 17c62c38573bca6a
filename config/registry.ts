import { collectDefaultMetrics, Registry } from 'prom-client';

/** The metrics of a process: those of Node.js, and what is added. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** All of them as text. The library writes `Nan` for what has no value yet, which not every reader takes for a number. */
export const exposition = async (registry: Registry): Promise<string> =>
  (await registry.metrics()).replaceAll(' Nan\n', ' NaN\n');
