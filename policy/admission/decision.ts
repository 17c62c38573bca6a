import type { Grant } from '../../contracts/admission.js';
import type { Excess } from '../demand.js';

/** A grant and the workflow that is told of it. */
export interface Delivery extends Grant {
  to: string;
}

/** A ticket that can never be met: it asks for more than the whole envelope. */
export interface Refusal extends Excess {
  holder: string;
  to: string;
}

export interface Decision {
  granted: Delivery[];
  refused: Refusal[];
  /** As many were granted or refused as one decision may: there may be more to decide. */
  isCut: boolean;
}

/** Grants of one decision: as many as one delivery can carry. */
export const MAX_GRANTS = 200;
/** As many as one activity settles at once. */
export const MAX_REFUSALS = 200;
