import type { Inspection, ProbeAnswer, ProbeReason } from '../contracts/inspection.js';

/** Looks at one cluster as one runtime describes it, with its credential. */
export interface ClusterClient {
  /** Whether the cluster answers and accepts us. Never throws: whatever goes wrong is the answer. */
  probe(signal: AbortSignal): Promise<ProbeAnswer>;
  /** Throws `ClusterFailure` where the first answer fails; what fails after it is a warning. */
  inspect(signal: AbortSignal): Promise<Inspection>;
  /** Ends its connections at once. */
  close(): Promise<void>;
}

/** Why a cluster did not answer as one. The message is ours, and safe to show. */
export class ClusterFailure extends Error {
  override readonly name = 'ClusterFailure';

  constructor(
    readonly reason: ProbeReason,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
