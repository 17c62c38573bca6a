import type { DataSource } from 'typeorm';
import { row } from './sql.js';

/** The one host that serves local runtimes. */
export class LocalHostStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Takes the role if it is free or this host's own, or with `takeOver` from another; else names that one. */
  async claim(hostId: string, takeOver = false): Promise<{ kind: 'claimed' } | { kind: 'taken'; hostId: string }> {
    const claimed = await row(
      this.dataSource,
      `INSERT INTO local_host AS known (host_id) VALUES ($1)
       ON CONFLICT ("only") DO UPDATE SET host_id = $1, claimed_at = now() WHERE known.host_id = $1 OR $2
       RETURNING host_id`,
      [hostId, takeOver],
    );
    if (claimed) return { kind: 'claimed' };
    const other = await this.current();
    return other === undefined ? this.claim(hostId, takeOver) : { kind: 'taken', hostId: other };
  }

  async current(): Promise<string | undefined> {
    return (await row<{ host_id: string }>(this.dataSource, 'SELECT host_id FROM local_host'))?.host_id;
  }
}
