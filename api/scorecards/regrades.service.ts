import { Injectable } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import { fieldPath, quoted } from '../../contracts/field-path.js';
import type { Grader } from '../../contracts/grader.js';
import type { RegradeRequest } from '../../contracts/regrade.js';
import type { ScorecardView } from '../../contracts/scorecard.js';
import { graderFaults } from '../../policy/cases.js';
import { noteAudit } from '../../store/audit-draft.js';
import { contentHash } from '../../store/content-hash.js';
import { newId } from '../../store/ids.js';
import { type NewRegrade, RegradeStore } from '../../store/regrade.store.js';
import { ScorecardStore } from '../../store/scorecard.store.js';
import type { Principal } from '../common/caller.js';
import { IdempotencyService, resolve } from '../common/idempotency.service.js';
import { ReferencesService } from '../common/references.service.js';
import { invalid } from '../common/schema.pipe.js';
import { confirmationBy, type Use, warningsOf } from '../common/uses.js';
import { WorkflowClient } from '../common/workflow.client.js';
import { refuseUnfinished } from './retries.service.js';
import { startRoot } from './root-start.js';
import { ScorecardsService, type SubmittedScorecard } from './scorecards.service.js';

/** Cases that one refusal lists. */
const MOST_NAMED = 20;

/** Grades stored answers anew. Nothing runs. */
@Injectable()
export class RegradesService {
  constructor(
    private readonly scorecards: ScorecardsService,
    private readonly store: ScorecardStore,
    private readonly regrades: RegradeStore,
    private readonly references: ReferencesService,
    private readonly idempotency: IdempotencyService,
    private readonly workflows: WorkflowClient,
  ) {}

  async regrade(
    caller: Principal,
    id: string,
    request: RegradeRequest,
    key: string | undefined,
  ): Promise<SubmittedScorecard> {
    const { workspace, subject } = caller;
    const idempotencyKey = this.idempotency.keyOf('POST /scorecards/:id/regrade', key, { id, ...request });
    const earlier = await this.idempotency.find(workspace, idempotencyKey);
    if (earlier !== undefined) return { view: await this.scorecards.read(workspace, earlier), warnings: [] };

    const of = await this.scorecards.read(workspace, id);
    refuseUnfinished(of, 'graded anew');
    noteAudit({ after: contentHash({ id, ...request }) });
    const { by, uses } = await this.gradersOf(workspace, of, request);
    if ((await this.regrades.judged(id)) === 0) throw nothingToGrade(of);
    const created = await this.regrades.create({
      id: newId('sc'),
      workspaceId: workspace,
      createdBy: subject,
      idempotencyKey,
      confirmation: confirmationBy(caller, uses),
      of: id,
      by,
    });
    const view = await this.scorecards.read(workspace, resolve(created));
    if (created.kind === 'created') startRoot(this.workflows, this.store, workspace, view);
    return { view, warnings: created.kind === 'created' ? warningsOf(uses) : [] };
  }

  private async gradersOf(
    workspace: string,
    { id }: ScorecardView,
    { graders, dataset: ref }: RegradeRequest,
  ): Promise<{ by: NewRegrade['by']; uses: Use[] }> {
    if (graders) {
      refuseCommands(graders);
      const faults = graderFaults(graders);
      if (faults.length > 0) throw invalid('the body', faults);
      return { by: { graders }, uses: [] };
    }
    const dataset = await this.references.dataset(workspace, ref ?? '');
    const { missing, withCommands } = await this.regrades.ungradable(id, dataset.pk, MOST_NAMED);
    const name = `dataset ${dataset.id}@${dataset.version}`;
    if (missing.length > 0) throw refusedCases(missing, `${name} has no case`, 'register a version that has it');
    if (withCommands.length > 0) {
      throw refusedCases(
        withCommands,
        `${name} has \`command\` graders, which need the job, for case`,
        'run it instead',
      );
    }
    return { by: { datasetPk: dataset.pk }, uses: [{ table: 'datasets', version: dataset }] };
  }
}

/** They ran in the job's work directory, which is gone. */
function refuseCommands(graders: readonly Grader[]): void {
  const errors = graders.flatMap(({ kind, id }, index) => {
    if (kind !== 'command') return [];
    const message = `grader ${quoted(id)} is a \`command\`, which needs the job: submit a scorecard instead`;
    return [{ path: fieldPath(['graders', index]), message }];
  });
  if (errors.length > 0) throw invalid('the body', errors);
}

function refusedCases(ids: readonly string[], what: string, wayOut: string): PlatformError {
  const errors = ids.map((id) => ({ path: 'dataset', message: `${what} ${quoted(id)}` }));
  const named = ids.map((id) => quoted(id)).join(', ');
  const more = ids.length === MOST_NAMED ? ', and maybe more' : '';
  return new PlatformError('BAD_REQUEST', `${what} ${named}${more}: ${wayOut}`, { errors });
}

function nothingToGrade({ id, counts }: ScorecardView): PlatformError {
  const { errored, cancelled, decided } = counts;
  const has = `${errored} errored, ${cancelled} cancelled, ${decided} decided by an operator`;
  return new PlatformError('NO_CASES', `${id} has no answer that graders judged: it has ${has}`);
}
