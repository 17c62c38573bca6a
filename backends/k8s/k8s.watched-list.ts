import { z } from 'zod';
import type { ClusterFailure } from '../cluster-client.js';
import { networkFailure } from '../cluster-failures.js';
import { pause } from '../pause.js';
import { K8sRefusal, restMsOf } from './k8s.failures.js';
import type { K8sLink } from './k8s.link.js';
import { type Change, WatchStream } from './k8s.watch-stream.js';

/** Is told what a list holds, and then every change of it. */
export interface ListKeeper {
  /** A list begins: what is in none of its pages is gone. */
  listing(): void;
  listed(object: unknown): void;
  /** That was all of it. Changes follow. */
  synced(): void;
  changed(change: Change): void;
  answered(): void;
  /** It could not be listed or watched. It is tried again. */
  failed(failure: ClusterFailure): void;
}

export interface WatchedListOptions {
  link: K8sLink;
  pathIn(namespace: string): string;
  labelSelector: string;
  keeper: ListKeeper;
  watchSec: number;
  /** After an API server should have ended a watch: what is silent for longer is dead. */
  marginMs: number;
  signal: AbortSignal;
}

/** In a row, without anything new in between; the first one is not waited for. */
const DELAYS_MS = [0, 100, 300, 1_000, 2_000, 5_000];
/** A watch that went on for so long was none that fails again and again. */
const LASTING_MS = 1_000;
/** Watches from one version that fail, until it is listed anew. */
const MOST_RESUMED = 2;

/**
 * Keeps a list by watching it, until the signal aborts.
 * 1. All pages of the list are read: what they say is true at its version.
 * 2. It is watched from that version, again and again, each time from the last version that was told.
 * 3. Where that version is no longer known (410), or a watch says nothing twice, or ends without even a bookmark, which
 *    is also how a watch from a version of the future looks: 1.
 */
export class WatchedList {
  private version: string | undefined;
  private failures = 0;

  constructor(private readonly options: WatchedListOptions) {}

  async run(): Promise<void> {
    const { signal, keeper } = this.options;
    while (!signal.aborted) {
      let restMs = 0;
      try {
        this.version ??= await this.list();
        await this.watch(this.version);
      } catch (error) {
        if (signal.aborted) return;
        if (!isExpired(error)) keeper.failed(networkFailure(error));
        restMs = restMsOf(error) ?? 0;
        if (isExpired(error) || this.failures >= MOST_RESUMED) this.version = undefined;
      }
      await pause(Math.max(restMs, this.delayMs()), signal);
    }
  }

  private async list(): Promise<string> {
    const { link, pathIn, labelSelector, keeper, signal } = this.options;
    const { client, namespace } = await link.connect(signal);
    keeper.listing();
    for (let from: string | undefined; ; ) {
      const page = await client.page(pathIn(namespace), z.unknown(), { labelSelector, from, signal });
      keeper.answered();
      for (const item of page.items) keeper.listed(item);
      from = page.next;
      if (from !== undefined) continue;
      keeper.synced();
      return page.resourceVersion;
    }
  }

  private async watch(resourceVersion: string): Promise<void> {
    const { link, pathIn, labelSelector, keeper, watchSec, marginMs, signal } = this.options;
    const { client, namespace } = await link.connect(signal);
    const begun = performance.now();
    const stream = new WatchStream(resourceVersion, (change) => keeper.changed(change));
    try {
      await unlessSilent(watchSec * 1_000 + marginMs, signal, (limited, heard) =>
        client.watch(pathIn(namespace), {
          ...{ resourceVersion, labelSelector, watchSec, signal: limited },
          onOpen: () => {
            heard();
            keeper.answered();
          },
          onPiece: (piece) => {
            heard();
            stream.take(piece);
            keeper.answered();
          },
        }),
      );
    } finally {
      this.version = stream.version;
      if (stream.lines > 0 && performance.now() - begun > LASTING_MS) this.failures = 0;
    }
    if (stream.lines === 0) this.version = undefined;
  }

  private delayMs(): number {
    const delayMs = DELAYS_MS[Math.min(this.failures, DELAYS_MS.length - 1)] ?? 0;
    this.failures += 1;
    return delayMs * (0.5 + Math.random());
  }
}

/** A connection that died without a word looks like one on which nothing happens. */
async function unlessSilent(
  limitMs: number,
  signal: AbortSignal,
  work: (limited: AbortSignal, heard: () => void) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const timer = setTimeout(abort, limitMs);
  try {
    await work(controller.signal, () => timer.refresh());
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

const isExpired = (error: unknown): boolean => error instanceof K8sRefusal && error.isExpired;
