import type { AllocationRef } from '../backends/backend.js';
import type { RuntimeTarget } from '../backends/resolver.js';
import type { Attempt } from '../store/attempt-row.js';
import type { RunJob } from '../store/run.store.js';

/** What an attempt is called on its cluster, as far as it is known. */
export function refOf({ allocation, nonce, submittedAt, placedAs, mark }: Attempt): AllocationRef {
  return {
    name: allocation,
    nonce,
    ...(submittedAt !== undefined && { submittedAt }),
    ...(placedAs !== undefined && { placedAs }),
    ...(mark && { mark }),
  };
}

/** Where a run's attempts go. */
export const targetOf = ({ runtime: spec, runtimeOwner: owner, isConfirmed }: RunJob): RuntimeTarget => ({
  owner,
  spec,
  isConfirmed,
});
