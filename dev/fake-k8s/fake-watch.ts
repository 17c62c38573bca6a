import type { Answer as HttpAnswer } from '../fake-http/fake-answer.js';
import { selected } from './fake-list.js';
import type { Kind, Stored } from './fake-objects.js';
import { apiVersionOf, RESOURCES, typed } from './fake-resources.js';
import type { Matches } from './fake-selectors.js';
import type { Change, FakeStore } from './fake-store.js';
import { expired, failure } from './status.js';

export interface WatchOptions {
  /** Between bookmarks, for those who allow them; one comes before the end in any case. */
  bookmarkMs?: number;
}

const LONGEST_SECONDS = 1_800;

/** Every open watch. What befalls watches befalls those of a kind, or all. */
export class Watches {
  private readonly open = new Set<Watch>();

  constructor(
    private readonly store: FakeStore,
    private readonly options: WatchOptions,
  ) {
    store.onChange((change) => {
      for (const watch of this.open) watch.tell(change);
    });
  }

  count(kind?: Kind): number {
    return this.of(kind).length;
  }

  /** Their connections break. */
  drop(kind?: Kind): void {
    for (const watch of this.of(kind)) watch.end('cut');
  }

  /** They end as if their time were over. */
  end(kind?: Kind): void {
    for (const watch of this.of(kind)) watch.end('clean');
  }

  /** They are told that their version is too old, and end. */
  expire(kind?: Kind): void {
    for (const watch of this.of(kind)) watch.expire(this.store.oldestVersion);
  }

  /** They stay open, and nothing ever comes again. */
  mute(kind?: Kind): void {
    for (const watch of this.of(kind)) watch.isMute = true;
  }

  answer(kind: Kind, namespace: string | undefined, query: URLSearchParams): HttpAnswer {
    const matches = selected(kind, query);
    if (typeof matches !== 'function') return matches;
    const from = query.get('resourceVersion') ?? '';
    if (!/^\d*$/.test(from)) {
      const why = `strconv.ParseUint: parsing ${JSON.stringify(from)}: invalid syntax`;
      return failure(500, '', `Invalid value: ${JSON.stringify(from)}: ${why}`);
    }
    const isOurs: Matches = (each) =>
      (namespace === undefined || each.metadata.namespace === namespace) && matches(each);
    const watch = new Watch(kind, isOurs, query.get('allowWatchBookmarks') === 'true');
    this.begin(watch, Number(from), namespace);
    const seconds = Number(query.get('timeoutSeconds') ?? 0) || LONGEST_SECONDS;
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      stream: (gone) => this.run(watch, seconds * 1_000, gone),
    };
  }

  /** What it has to be told before anything else happens. */
  private begin(watch: Watch, from: number, namespace: string | undefined): void {
    this.open.add(watch);
    if (from > 0) {
      const changes = this.store.since(from);
      watch.from = from;
      if (changes === 'too old') watch.expire(this.store.oldestVersion, from);
      else for (const change of changes) watch.tell(change);
      return;
    }
    for (const object of this.store.list(watch.kind, namespace)) watch.add(object);
    watch.bookmark(this.store.version, { 'k8s.io/initial-events-end': 'true' });
  }

  private async *run(watch: Watch, lastsMs: number, gone: AbortSignal): AsyncGenerator<Buffer> {
    const { bookmarkMs = 60_000 } = this.options;
    const bookmarks = setInterval(() => watch.bookmark(this.store.version), bookmarkMs);
    const over = setTimeout(() => {
      watch.bookmark(this.store.version);
      watch.end('clean');
    }, lastsMs);
    const leave = (): void => watch.end('clean');
    gone.addEventListener('abort', leave);
    try {
      yield* watch.lines();
    } finally {
      clearInterval(bookmarks);
      clearTimeout(over);
      gone.removeEventListener('abort', leave);
      this.open.delete(watch);
    }
  }

  private of(kind?: Kind): Watch[] {
    return [...this.open].filter((watch) => kind === undefined || watch.kind === kind);
  }
}

/** One watch: what is to be sent, and how it ends. */
class Watch {
  isMute = false;
  /** Earlier changes are known to who watches, or never were. */
  from = 0;
  private readonly untold: string[] = [];
  private ending: 'clean' | 'cut' | undefined;
  private wake: () => void = () => undefined;

  constructor(
    readonly kind: Kind,
    private readonly matches: Matches,
    private readonly allowsBookmarks: boolean,
  ) {}

  tell({ type, kind, object, previous, version }: Change): void {
    if (kind !== this.kind || version <= this.from) return;
    const was = previous !== undefined && this.matches(previous);
    const is = type !== 'DELETED' && this.matches(object);
    if (is) this.send(was ? 'MODIFIED' : 'ADDED', typed(kind, object));
    else if (was) this.send('DELETED', typed(kind, type === 'DELETED' || !previous ? object : asOf(previous, version)));
  }

  add(object: Stored): void {
    if (this.matches(object)) this.send('ADDED', typed(this.kind, object));
  }

  bookmark(version: number, annotations?: Record<string, string>): void {
    if (!this.allowsBookmarks) return;
    const { name, ...type } = RESOURCES[this.kind];
    const metadata = { resourceVersion: String(version), ...(annotations && { annotations }) };
    this.send('BOOKMARK', { kind: name, apiVersion: apiVersionOf({ name, ...type }), metadata });
  }

  expire(oldest: number, asked = this.from): void {
    this.send('ERROR', expired(`too old resource version: ${asked} (${oldest})`).body);
    this.end('clean');
  }

  end(how: 'clean' | 'cut'): void {
    this.ending ??= how;
    this.wake();
  }

  async *lines(): AsyncGenerator<Buffer> {
    for (;;) {
      for (let line = this.untold.shift(); line !== undefined; line = this.untold.shift()) yield Buffer.from(line);
      if (this.ending === 'cut') throw new Error('cut');
      if (this.ending === 'clean') return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  private send(type: string, object: unknown): void {
    if (this.isMute || this.ending) return;
    this.untold.push(`${JSON.stringify({ type, object })}\n`);
    this.wake();
  }
}

const asOf = <Object extends Stored>(object: Object, version: number): Object => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(version) },
});
