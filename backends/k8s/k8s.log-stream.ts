/** Gives each piece away, and waits until it is taken: false if no more is wanted. */
export type Take = (piece: Buffer, type: string) => Promise<boolean>;

interface Given {
  piece: Buffer;
  taken(isMoreWanted: boolean): void;
}

/**
 * The pieces of an answer, at the pace of whoever reads them: none is asked for before the one before it was taken. A
 * piece that is absent stands for so long without one. Returns the answer; left early, it is cut off.
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

/** From hand to hand, one piece at a time. */
class Handover {
  private given: Given | undefined;
  private taken: Given | undefined;
  private waiter: (() => void) | undefined;
  isOver = false;

  readonly give: Take = (piece) =>
    new Promise((taken) => {
      this.given = { piece, taken };
      this.waiter?.();
    });

  /** No more comes. */
  end(): void {
    this.isOver = true;
    this.waiter?.();
  }

  /** The next one; nothing if none came in time, or none does. */
  async next(waitMs: number): Promise<Buffer | undefined> {
    this.taken?.taken(true);
    this.taken = undefined;
    if (!this.given && !this.isOver) await this.woken(waitMs);
    this.taken = this.given;
    this.given = undefined;
    return this.taken?.piece;
  }

  close(): void {
    this.taken?.taken(false);
    this.given?.taken(false);
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
