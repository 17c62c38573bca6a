/** Gives a piece away, and waits where too many of them were not taken yet: false if no more is wanted. */
export type Take = (piece: Buffer, type: string) => boolean | Promise<boolean>;

/** What is held of an answer until it is taken. */
const MOST_BYTES = 64 * 1_024;
/** A node sends each line by itself: those that come so soon after one another are taken as one. */
const TOGETHER_MS = 10;

/**
 * What comes of an answer, at the pace of whoever reads it: no more is asked for while much of it is not taken. A piece
 * that is absent stands for so long without one. Returns the answer; left early, it is cut off.
 */
export async function* piecesOf<Answer>(
  open: (take: Take, signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
  silentMs: () => number,
): AsyncGenerator<Buffer | undefined, Answer> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  const handover = new Handover();
  const answer = open(handover.give, ending.signal).finally(() => handover.end());
  // Its failure is met below, or is nobody's concern.
  answer.catch(() => undefined);
  try {
    for (;;) {
      const given = await handover.next(silentMs());
      if (given) yield given;
      else if (handover.isOver) return await answer;
      else yield undefined;
    }
  } finally {
    signal.removeEventListener('abort', end);
    end();
    handover.close();
  }
}

/** From hand to hand, a bounded number of bytes at a time. */
class Handover {
  private pieces: Buffer[] = [];
  private bytes = 0;
  /** Whoever gives waits for it. */
  private goOn: ((isMoreWanted: boolean) => void) | undefined;
  private waiter: (() => void) | undefined;
  private isClosed = false;
  isOver = false;

  readonly give: Take = (piece) => {
    if (this.isClosed) return false;
    const isFirst = this.bytes === 0;
    this.pieces.push(piece);
    this.bytes += piece.length;
    if (isFirst || this.isFull) this.waiter?.();
    if (!this.isFull) return true;
    return new Promise((goOn) => {
      this.goOn = goOn;
    });
  };

  /** No more comes. */
  end(): void {
    this.isOver = true;
    this.waiter?.();
  }

  /** What there is; nothing if none came in time, or none does. */
  async next(waitMs: number): Promise<Buffer | undefined> {
    if (this.bytes === 0 && !this.isOver) await this.woken(waitMs);
    if (this.bytes > 0 && !this.isFull && !this.isOver) await this.woken(TOGETHER_MS);
    const { pieces } = this;
    this.pieces = [];
    this.bytes = 0;
    this.goOn?.(true);
    this.goOn = undefined;
    return pieces.length > 1 ? Buffer.concat(pieces) : pieces[0];
  }

  close(): void {
    this.isClosed = true;
    this.goOn?.(false);
  }

  private get isFull(): boolean {
    return this.bytes >= MOST_BYTES;
  }

  private async woken(waitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.waiter = resolve;
      timer = setTimeout(resolve, waitMs);
    });
    clearTimeout(timer);
    this.waiter = undefined;
  }
}
