import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { FinishEvent, ProgressEvent } from '../../contracts/scorecard-events.js';
import { ProgressStore, type SettledRun } from '../../store/progress.store.js';
import { ScorecardNotes } from '../../store/scorecard-notes.js';
import { unlessAborted } from '../common/aborted.js';
import type { StreamEvent } from '../common/event-streams.js';
import { SharedReads } from '../common/shared-reads.js';
import { type EventPosition, positionId } from './event-position.js';
import { type FeedState, ScorecardFeed } from './scorecard-feed.js';

/** Settled runs that are read at a time. */
const PAGE = 500;

/**
 * Tells how scorecards go. The rule of its events: with each look, first one `run` for every run that the look sees as
 * settled and the reader does not know, then one `progress` if something changed. What a reader knows is said by a
 * snapshot of Postgres, which is in the id of every event. So nothing is missed and nothing comes twice, in whatever
 * order settling transactions commit, also over a drop and with another process; and the `run` events before a
 * `progress` are exactly as many as it counts as settled.
 */
@Injectable()
export class ScorecardWatcher implements OnModuleDestroy {
  private readonly feeds = new Map<string, { feed: ScorecardFeed; watchers: number }>();
  private readonly pages = new SharedReads<SettledRun[]>();

  constructor(
    private readonly store: ProgressStore,
    private readonly notes: ScorecardNotes,
  ) {}

  async onModuleDestroy(): Promise<void> {
    await this.notes.close();
  }

  /** From a position to the end of the scorecard. Without `hasRuns` no run is told, only how many there are. */
  async *watch(id: string, from: EventPosition, hasRuns: boolean, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const feed = this.join(id);
    try {
      // An earlier look may be older than what the reader knows.
      let look = feed.begun;
      let position = from;
      let shown = '';
      for (;;) {
        const state = await feed.next(look, signal);
        if (!state) return;
        look = state.look;
        const { snapshot, status, counts, rates } = state.progress;
        if (hasRuns) yield* this.runs(id, position, snapshot, signal);
        if (signal.aborted) return;
        position = { seen: snapshot };
        const key = changeKey(state);
        if (key !== shown) yield { event: 'progress', id: snapshot, data: progressOf(state) };
        shown = key;
        if (status === 'completed' || status === 'cancelled') {
          yield { event: 'end', id: snapshot, data: { status, counts, rates } satisfies FinishEvent };
          return;
        }
      }
    } finally {
      this.leave(id);
    }
  }

  /** Every run between a position and a snapshot; a position in the middle of an earlier step ends that one first. */
  private async *runs(
    id: string,
    { seen, part }: EventPosition,
    snapshot: string,
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent> {
    if (part) yield* this.range(id, seen, part.to, part.after, signal);
    yield* this.range(id, part?.to ?? seen, snapshot, undefined, signal);
  }

  private async *range(
    id: string,
    seen: string | undefined,
    to: string,
    known: NonNullable<EventPosition['part']>['after'] | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent> {
    for (let after = known; ; ) {
      const range = { to, ...(seen !== undefined && { seen }), ...(after && { after }) };
      const page = await unlessAborted(
        this.pages.read(`${id} ${JSON.stringify(range)}`, () => this.store.settled(id, range, PAGE)),
        signal,
      );
      for (const { xid, run } of page ?? []) {
        after = { xid, run: run.run };
        yield { event: 'run', id: positionId({ seen, part: { to, after } }), data: run };
      }
      if (!page || page.length < PAGE) return;
    }
  }

  private join(id: string): ScorecardFeed {
    this.notes.listen((noted) => this.feeds.get(noted)?.feed.note());
    const joined = this.feeds.get(id) ?? { feed: new ScorecardFeed(id, this.store), watchers: 0 };
    joined.watchers += 1;
    this.feeds.set(id, joined);
    joined.feed.note();
    return joined.feed;
  }

  private leave(id: string): void {
    const joined = this.feeds.get(id);
    if (!joined) return;
    joined.watchers -= 1;
    if (joined.watchers === 0) this.feeds.delete(id);
  }
}

function progressOf({ progress: { status, counts, pauseReason, stoppedEarly }, oldest }: FeedState): ProgressEvent {
  const isPaused = status === 'paused' && pauseReason !== null;
  return {
    ...{ status, counts },
    ...(isPaused && { pauseReason }),
    ...(stoppedEarly && { stoppedEarly }),
    ...(oldest && { oldest }),
  };
}

/** Equal for two states that say the same: the age of the oldest run grows by itself. */
const changeKey = ({ progress: { status, counts }, oldest }: FeedState): string =>
  JSON.stringify([status, counts, oldest?.run]);
