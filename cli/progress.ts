import { clock, cut, plain, widthOf } from './text.js';
import type { ProgressReply } from './wire.js';

const BAR_COLUMNS = 30;
/** Plain lines are for logs of CI: at most one a second, and only when something changed. */
const LINE_INTERVAL_MS = 1_000;

type Counted = Pick<ProgressReply, 'counts' | 'status' | 'oldest' | 'stoppedEarly'>;

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

/** A bar is at least this long, and the name of a case with its age. */
const SHORTEST_BAR = 10;
const SHORTEST_NAME = 22;

/** States in words, from all of them to none. */
function stateTexts(view: Counted): string[] {
  const { running, passed, failed, errored } = view.counts;
  const words = (counts: Record<string, number>): string =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([state, count]) => `${state} ${count}`)
      .join('  ');
  return [
    stateLine(view),
    words({ queued: view.counts.queued, waiting: view.counts.waiting, running, passed, failed, errored }),
    words({ passed, failed, errored }),
    '',
  ];
}

/** What stops cases from starting is said. */
function titleOf({ status, stoppedEarly }: Counted): string {
  if (stoppedEarly) return ` ended early: ${stoppedEarly.verdict}`;
  return status === 'cancelling' || status === 'paused' ? ` ${status}` : '';
}

/**
 * The line that is redrawn in place. It never fills the last column, where a terminal would wrap it. On a narrow one
 * states that nothing is in go first, then those that are not settled, then all.
 */
export function barLine(view: Counted, elapsedMs: number, columns: number): string {
  const { counts, oldest } = view;
  const room = columns - 1;
  const title = titleOf(view);
  const heads = stateTexts(view).map((states) =>
    [`${counts.settled}/${counts.submitted}${title}`, states, clock(elapsedMs)].filter(Boolean).join('  '),
  );
  const wanted = SHORTEST_BAR + 1 + (oldest ? SHORTEST_NAME + 2 : 0);
  const fitting = heads.find((head) => head.length + wanted <= room) ?? heads.find((head) => head.length <= room);
  const head = fitting ?? cut(heads.at(-1) ?? '', room);

  const nameRoom = room - head.length - SHORTEST_BAR - 3;
  const name = oldest && nameRoom >= SHORTEST_NAME ? `  ${oldestText(oldest, nameRoom)}` : '';
  const barRoom = room - head.length - widthOf(name) - 1;
  return barRoom < SHORTEST_BAR ? head + name : `${bar(view, Math.min(BAR_COLUMNS, barRoom))} ${head}${name}`;
}

/** `oldest: math/sum 1:05` */
function oldestText({ caseId, ageMs }: NonNullable<Counted['oldest']>, columns: number): string {
  const [before, after] = ['oldest: ', ` ${clock(ageMs)}`];
  return before + cut(plain(caseId), columns - before.length - after.length) + after;
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
  private view: Counted | undefined;
  private viewAt = 0;
  private lastLine = '';
  private lastLineAt = Number.NEGATIVE_INFINITY;
  private isDrawn = false;

  constructor(
    private readonly screen: Screen,
    private readonly startedAt: number,
  ) {}

  /** Of what was shown last. */
  get status(): Counted['status'] | undefined {
    return this.view?.status;
  }

  show(view: Counted, now: number): void {
    this.view = view;
    this.viewAt = now;
    this.redraw(now);
  }

  /** Shows what is known with the time of now; to be called at least each second, as a line may have had to wait. */
  redraw(now: number): void {
    if (!this.view) return;
    if (!this.screen.isTty) {
      this.writeLine(this.view, now);
      return;
    }
    const { oldest } = this.view;
    const view = oldest ? { ...this.view, oldest: { ...oldest, ageMs: oldest.ageMs + now - this.viewAt } } : this.view;
    this.screen.write(`\r\u001b[2K${barLine(view, now - this.startedAt, this.screen.columns())}`);
    this.isDrawn = true;
  }

  private writeLine(view: Counted, now: number): void {
    const line = `${view.counts.settled}/${view.counts.submitted}${titleOf(view)}  ${stateLine(view)}`;
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
