import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { aHarness, MEMBER } from '../../builders.js';
import type { World } from '../../integration/store/world.js';

/** Answers the next question to a pool, of which it is the so-many-th. */
type Answer = (reads: number, reply: ServerResponse) => void;

export const says =
  (total: number, used: number): Answer =>
  (_reads, reply) =>
    void reply.end(JSON.stringify({ max_browsers: total, active: { browsers: used } }));

/** The endpoints of live session pools, each at the path of its name. */
export class SessionServer {
  private readonly pools = new Map<string, { reads: number; answer: Answer }>();
  private readonly server = createServer(({ url = '' }, reply) => {
    const pool = this.pools.get(url.slice(1));
    if (!pool) return void reply.destroy();
    pool.reads += 1;
    pool.answer(pool.reads, reply);
  });

  listen(): Promise<void> {
    return new Promise((listening) => this.server.listen(0, '127.0.0.1', listening));
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** From now on; it was not asked yet. */
  answer(pool: string, answer: Answer): void {
    this.pools.set(pool, { reads: 0, answer });
  }

  readsOf(pool: string): number {
    return this.pools.get(pool)?.reads ?? 0;
  }

  /** Registers a harness that runs the task of a case as a shell script and needs a session for it. Returns its key. */
  async register({ harnesses }: World, id: string, answer: Answer): Promise<number> {
    this.answer(id, answer);
    const { port } = this.server.address() as AddressInfo;
    const capacity = { poll: `http://127.0.0.1:${port}/${id}`, total: 'max_browsers', used: '$.active.browsers' };
    const harness = aHarness({ id, command: 'sh "$EVERDICT_TASK_FILE"', acquire: { capacity } });
    await harnesses.insert('default', harness, MEMBER);
    const found = await harnesses.find('default', id);
    if (!found) throw new Error('the harness was not stored');
    return found.pk;
  }
}
