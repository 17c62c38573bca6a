import { Injectable } from '@nestjs/common';
import type { EvalCase } from '../../contracts/case.js';
import { PlatformError } from '../../contracts/errors.js';
import type { HarnessSpec } from '../../contracts/harness.js';
import { runtimeFaults } from '../../policy/capabilities.js';
import { Placement } from '../../policy/placement.js';
import { CandidateStore } from '../../store/candidate.store.js';
import type { Site } from './case-gate.js';
import { Operator } from './operator.js';

/** Needs that one refusal lists. */
const MOST_NEEDS = 20;

/** The choice of a runtime for cases that come one by one. */
export interface SiteChoice {
  add(evalCase: EvalCase): void;
  /** Throws if no runtime satisfies all of them. */
  site(): Site;
}

/** Chooses a runtime for who names none, by `auto`. */
@Injectable()
export class PlacementService {
  constructor(
    private readonly candidates: CandidateStore,
    private readonly operator: Operator,
  ) {}

  async begin(workspace: string, harness: HarnessSpec): Promise<SiteChoice> {
    const known = await this.candidates.of(workspace);
    const allowed = known.filter(({ spec }) => runtimeFaults(spec, this.operator).length === 0);
    if (allowed.length === 0) throw nothingFits(['there is no runtime that takes new work: register one']);
    const placement = new Placement(allowed, harness, this.operator);
    return {
      add: (evalCase) => placement.add(evalCase),
      site: () => {
        const choice = placement.choose();
        if ('refusals' in choice) throw nothingFits(choice.refusals);
        return choice.site;
      },
    };
  }
}

function nothingFits(reasons: readonly string[]): PlatformError {
  const named = reasons.slice(0, MOST_NEEDS);
  const errors = named.map((message) => ({ path: 'runtime', message }));
  return new PlatformError('NO_RUNTIME_FITS', `no runtime fits: ${named.join('; ')}`, { errors });
}
