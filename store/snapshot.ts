/** What a statement of Postgres saw: transactions below `xmin`, and those up to `xmax` that are not among `open`. */
export interface Snapshot {
  xmin: bigint;
  xmax: bigint;
  open: bigint[];
}

const TEXT = /^([1-9]\d{0,18}):([1-9]\d{0,18}):((?:\d{1,19}(?:,\d{1,19})*)?)$/;

/** Reads the text form of `pg_snapshot`; undefined for what Postgres would not take either. */
export function parseSnapshot(text: string): Snapshot | undefined {
  const [, low, high, list] = TEXT.exec(text) ?? [];
  if (low === undefined || high === undefined) return undefined;
  const [xmin, xmax] = [BigInt(low), BigInt(high)];
  const open = list ? list.split(',').map(BigInt) : [];
  const isOrdered = open.every((xid, i) => xid >= (open[i - 1] ?? xmin) && xid < xmax);
  return xmin <= xmax && isOrdered ? { xmin, xmax, open } : undefined;
}
