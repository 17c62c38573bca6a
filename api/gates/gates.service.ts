import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { PlatformError } from '../../contracts/errors.js';
import { fieldPath } from '../../contracts/field-path.js';
import type { GateOverride, GateRequest, GateResult, GateRules, GateSummary } from '../../contracts/gate.js';
import { judge, repeated } from '../../policy/gate/judge.js';
import { GateStore } from '../../store/gate.store.js';
import { newId } from '../../store/ids.js';
import { ScorecardStore } from '../../store/scorecard.store.js';
import type { Principal } from '../common/caller.js';
import { decodeCursor, type Page, toPage } from '../common/cursor.js';
import { IdempotencyService, resolve } from '../common/idempotency.service.js';
import { MissingService } from '../common/missing.service.js';
import { notFound } from '../common/registration.js';
import { invalid } from '../common/schema.pipe.js';
import { PoliciesService } from '../policies/policies.service.js';
import { ScorecardWatcher } from '../scorecards/scorecard-watcher.js';
import { SidesService } from '../scorecards/sides.service.js';
import { GateQuery } from './gates.schema.js';

@Injectable()
export class GatesService {
  constructor(
    private readonly gates: GateStore,
    private readonly policies: PoliciesService,
    private readonly scorecards: ScorecardStore,
    private readonly sides: SidesService,
    private readonly watcher: ScorecardWatcher,
    private readonly missing: MissingService,
    private readonly idempotency: IdempotencyService,
  ) {}

  /** Judges a finished candidate and stores the verdict. What can be refused at once is, before it is waited for. */
  async judge(
    { workspace, subject }: Principal,
    request: GateRequest,
    key: string | undefined,
    left: AbortSignal,
  ): Promise<GateResult> {
    const idempotencyKey = this.idempotency.keyOf('POST /scorecards/gate', key, request);
    const earlier = await this.idempotency.find(workspace, idempotencyKey);
    if (earlier !== undefined) return this.read(workspace, earlier);
    const policy = await this.policies.resolve(workspace, request.policy);
    if (request.baseline === undefined) refuseWithoutBaseline(policy.rules);
    const named = request.baseline === undefined ? undefined : await this.sides.finished(workspace, request.baseline);
    await this.finished(workspace, request, left);
    const judgement = await this.sides.inTurn(async () => {
      const baseline = named && (await this.sides.readFinished(workspace, named.id));
      const candidate = await this.sides.readFinished(workspace, request.candidate);
      return judge({ rules: policy.rules, candidate, on: request.on, ...(baseline && { baseline }) });
    });
    const stop = await this.gates.stop(request.candidate, policy.hash, named?.id);
    const isRepeated = stop !== undefined && judgement.verdict !== 'not_comparable';
    const said = isRepeated ? repeated(judgement, stop) : judgement;
    const gate = { id: newId('gate'), policy, by: subject, ...said };
    return this.read(workspace, resolve(await this.gates.insert(workspace, gate, idempotencyKey)));
  }

  async list(workspace: string, { cursor, limit, candidate }: GateQuery): Promise<Page<GateSummary>> {
    const after = decodeCursor(z.string(), cursor);
    const found = await this.gates.list(workspace, { candidate, after, limit: limit + 1 });
    return toPage(
      found,
      limit,
      (gate) => gate,
      ({ id }) => id,
    );
  }

  async read(workspace: string, id: string): Promise<GateResult> {
    const found = await this.gates.find(workspace, id);
    if (!found) throw notFound('gate', id);
    return found;
  }

  async override({ workspace, subject }: Principal, id: string, override: GateOverride): Promise<GateResult> {
    const overridden = await this.gates.override(workspace, id, override, subject);
    if (!overridden) throw notFound('gate', id);
    return overridden;
  }

  /** Waits for the candidate, as long as is asked for. */
  private async finished(workspace: string, { candidate, waitSec }: GateRequest, left: AbortSignal): Promise<void> {
    const status = await this.statusOf(workspace, candidate);
    if (isFinished(status)) return;
    if (waitSec !== undefined) {
      const signal = AbortSignal.any([left, AbortSignal.timeout(waitSec * 1_000)]);
      for await (const { event } of this.watcher.watch(candidate, {}, false, signal)) if (event === 'end') return;
    }
    const waited = waitSec === undefined ? '' : ` after ${waitSec} s`;
    const message = `scorecard ${candidate} is ${await this.statusOf(workspace, candidate)}${waited}: ask again, with \`waitSec\` (50 at most; on the command line \`--wait\`) to wait for its end, or cancel it`;
    throw new PlatformError('CONFLICT', message, { errors: [{ path: 'candidate', message: 'is not finished' }] });
  }

  private async statusOf(workspace: string, id: string): Promise<string> {
    const found = await this.scorecards.find(workspace, id);
    if (!found) throw await this.missing.scorecard(workspace, id);
    return found.status;
  }
}

const isFinished = (status: string): boolean => status === 'completed' || status === 'cancelled';

/** Rules about regressions have nothing to compare with. */
function refuseWithoutBaseline({ maxRegressions, perTag = {} }: GateRules): void {
  const rules = [
    ...(maxRegressions === undefined ? [] : ['maxRegressions']),
    ...Object.entries(perTag).flatMap(([tag, rule]) =>
      rule.maxRegressions === undefined ? [] : [fieldPath(['perTag', tag, 'maxRegressions'])],
    ),
  ];
  if (rules.length === 0) return;
  const message = `is required by ${rules.map((rule) => `\`${rule}\``).join(', ')} of the policy: give a scorecard or a pinned name, or a policy without`;
  throw invalid('the body', [{ path: 'baseline', message }]);
}
