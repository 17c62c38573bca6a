/** How long the other side may say nothing while we wait for it. Time that our own reader takes does not count. */
export class Silence {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly ms: number) {
    this.wait();
  }

  /** Aborts once the silence was too long. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** From now on, anew. */
  wait(): void {
    this.end();
    const abort = (): void => this.controller.abort(new DOMException(`silent for ${this.ms} ms`, 'TimeoutError'));
    this.timer = setTimeout(abort, this.ms).unref();
  }

  end(): void {
    clearTimeout(this.timer);
  }

  /** The pieces as they come; each one is waited for anew. */
  async *within<Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
    this.wait();
    for await (const piece of pieces) {
      this.end();
      yield piece;
      this.wait();
    }
    this.end();
  }
}
