/** The last bytes of a stream, however long it is. */
export class TailRing {
  private readonly ring: Buffer;
  /** Offset in the stream after the last byte. */
  private end = 0;
  private length = 0;

  constructor(limitBytes: number) {
    this.ring = Buffer.allocUnsafeSlow(Math.max(1, limitBytes));
  }

  push(at: number, bytes: Uint8Array): void {
    const { ring } = this;
    // After a gap the earlier bytes are no longer next to the last ones.
    if (at !== this.end) this.length = 0;
    this.end = at + bytes.length;
    this.length = Math.min(ring.length, this.length + bytes.length);
    const last = bytes.subarray(Math.max(0, bytes.length - ring.length));
    const start = (this.end - last.length) % ring.length;
    const first = last.subarray(0, ring.length - start);
    ring.set(first, start);
    ring.set(last.subarray(first.length), 0);
  }

  contents(): { at: number; bytes: Buffer } {
    const { ring, length } = this;
    const at = this.end - length;
    const start = at % ring.length;
    const first = ring.subarray(start, Math.min(ring.length, start + length));
    return { at, bytes: Buffer.concat([first, ring.subarray(0, length - first.length)]) };
  }
}
