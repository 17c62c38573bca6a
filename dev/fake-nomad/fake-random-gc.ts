import { drawsFrom } from '../fake-http/fake-draws.js';
import type { ClientGc } from './fake-gc.js';

/** Of the times that something is collected, how often it is by the servers. */
const SYSTEM_SHARE = 0.1;

/** Collects now and then, until it is stopped: one allocation that has ended, or all that the servers can forget. */
export function collectAtRandom(
  clients: ClientGc,
  collectSystem: () => void,
  { everyMs, seed }: { everyMs: number; seed: number },
): () => void {
  const draw = drawsFrom(seed);
  let timer: NodeJS.Timeout;
  const next = (): void => {
    timer = setTimeout(
      () => {
        const { collectable } = clients;
        const id = collectable[Math.floor(draw() * collectable.length)];
        if (draw() < SYSTEM_SHARE) collectSystem();
        else if (id !== undefined) clients.collect(id);
        next();
      },
      2 * everyMs * draw(),
    );
  };
  next();
  return () => clearTimeout(timer);
}
