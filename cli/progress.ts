import { clock, cut } from './text.js';
import type { ScorecardReply } from './wire.js';

const BAR_COLUMNS = 30;
/** Plain lines are for logs of CI: at most one a second, and only when something changed. */
const LINE_INTERVAL_MS = 1_000;

type Counted = Pick<ScorecardReply, 'counts' | 'status'>;

/** Runs by state, those settled by outcome: the six add up to what was submitted, less what was cancelled. */
export function stateLine({ counts }: Pick<Counted, 'counts'>): string {
  const { queued, waiting, running, passed, failed, errored, cancelled } = counts;
  const parts = [
    `queued ${queued}`,
    `waiting ${waiting}`,
    `running ${running}`,
    `passed ${passed}`,
    `failed ${failed}`,
    `errored ${errored}`,
  ];
  if (cancelled > 0) parts.push(`cancelled ${cancelled}`);
  return parts.join('  ');
}

/** `████▒▒░░░`: settled, running, the rest. Something settled is never shown as nothing. */
export function bar({ counts }: Pick<Counted, 'counts'>, columns = BAR_COLUMNS): string {
  const { submitted, settled, running } = counts;
  if (submitted === 0) return '░'.repeat(columns);
  const full = Math.floor((settled / submitted) * columns);
  const busy = Math.min(columns - full, Math.ceil((running / submitted) * columns));
  return '█'.repeat(full) + '▒'.repeat(busy) + '░'.repeat(columns - full - busy);
}

/** The line that is redrawn in place. It never fills the last column, where a terminal would wrap it. */
export function barLine(view: Counted, elapsedMs: number, columns: number): string {
  const { counts, status } = view;
  const title = status === 'cancelling' || status === 'paused' ? ` ${status}` : '';
  const head = `${counts.settled}/${counts.submitted}${title}  ${stateLine(view)}  ${clock(elapsedMs)}`;
  const room = columns - 1 - head.length - 1;
  return room >= 10 ? `${bar(view, Math.min(BAR_COLUMNS, room))} ${head}` : cut(head, columns - 1);
}

/** What progress is written to. */
export interface Screen {
  write(text: string): void;
  /** Resolves when there is room for more. */
  writeBytes(bytes: Uint8Array): Promise<void>;
  isTty: boolean;
  columns(): number;
}

/** Shows how a scorecard goes: one line redrawn in place on a terminal, else a line per change. */
export class ProgressView {
  private lastLine = '';
  private lastLineAt = Number.NEGATIVE_INFINITY;
  private isDrawn = false;

  constructor(
    private readonly screen: Screen,
    private readonly startedAt: number,
  ) {}

  show(view: Counted, now: number): void {
    if (this.screen.isTty) {
      this.screen.write(`\r\u001b[2K${barLine(view, now - this.startedAt, this.screen.columns())}`);
      this.isDrawn = true;
      return;
    }
    const line = `${view.counts.settled}/${view.counts.submitted}  ${stateLine(view)}`;
    const isOver = view.status === 'completed' || view.status === 'cancelled';
    if (line === this.lastLine || (now - this.lastLineAt < LINE_INTERVAL_MS && !isOver)) return;
    this.screen.write(`[${clock(now - this.startedAt)}] ${line}\n`);
    this.lastLine = line;
    this.lastLineAt = now;
  }

  /** A message between the progress; the bar is drawn below it again. */
  say(message: string): void {
    this.end();
    this.screen.write(`${message}\n`);
  }

  /** Leaves the last state on the screen. */
  end(): void {
    if (this.isDrawn) this.screen.write('\n');
    this.isDrawn = false;
  }
}
