import { Injectable } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import { fieldPath, quoted } from '../../contracts/field-path.js';
import { AUTO_RUNTIME, type ScorecardRequest } from '../../contracts/scorecard.js';
import { DatasetStore, type RegisteredDataset, type SelectedTarget } from '../../store/dataset.store.js';
import type { RegisteredHarness } from '../../store/harness.store.js';
import type { Sites } from '../../store/scorecard-insert.js';
import { CaseGate, type Site } from '../common/case-gate.js';
import { Operator } from '../common/operator.js';
import { PlacementService } from '../common/placement.service.js';
import { ReferencesService } from '../common/references.service.js';
import type { Use } from '../common/uses.js';

/** Runs of one scorecard. */
const MOST_RUNS = 100_000;
/** Unknown case ids that one refusal lists. */
const MOST_NAMED = 20;

interface Checked {
  dataset: RegisteredDataset;
  harness: RegisteredHarness;
  sites: Sites;
  uses: Use[];
}

/** Everything that is checked before a scorecard is stored. Cases are read a page at a time. */
@Injectable()
export class ScorecardGate {
  constructor(
    private readonly references: ReferencesService,
    private readonly datasets: DatasetStore,
    private readonly placement: PlacementService,
    private readonly operator: Operator,
  ) {}

  async check(workspace: string, request: ScorecardRequest): Promise<Checked> {
    const dataset = await this.references.dataset(workspace, request.dataset);
    const harness = await this.references.harness(workspace, request.harness, request.params);
    const choice = request.runtime === AUTO_RUNTIME ? await this.placement.begin(workspace, harness.spec) : undefined;
    const named = choice || !request.runtime ? undefined : await this.references.site(workspace, request.runtime);
    const targets = await this.select(dataset, request);
    const byTarget = choice || named ? new Map<string, Site>() : await this.sitesOf(workspace, targets);
    const gate = new CaseGate(harness.spec, request.params ?? {}, this.operator);
    for await (const { case: evalCase } of this.datasets.selectedCases(dataset.pk, request.cases)) {
      const site = named ?? byTarget.get(evalCase.placement?.target ?? '');
      if (site) gate.check(evalCase, site);
      else gate.checkAnywhere(evalCase);
      choice?.add(evalCase);
      if (!gate.isOpen) break;
    }
    gate.close();
    return {
      dataset,
      harness,
      ...sitesUsed(named ?? choice?.site(), byTarget, [
        { table: 'datasets', version: dataset },
        { table: 'harnesses', version: harness },
      ]),
    };
  }

  /** What the filter selects, by target: at least one case, and not more than a scorecard may have. */
  async select(
    { pk, id, version }: RegisteredDataset,
    { cases = {}, trials }: Pick<ScorecardRequest, 'cases' | 'trials'>,
  ): Promise<SelectedTarget[]> {
    const name = `dataset ${id}@${version}`;
    const unknown = cases.ids ? await this.datasets.unknownIds(pk, cases.ids) : [];
    if (unknown.length > 0) throw unknownCases(name, unknown);
    const targets = await this.datasets.selection(pk, cases);
    const selected = targets.reduce((sum, target) => sum + target.cases, 0);
    if (selected === 0) throw new PlatformError('NO_CASES', `the filter selects no case of ${name}`);
    if (selected * trials <= MOST_RUNS) return targets;
    const message = `${selected} cases × ${trials} trials are ${selected * trials} runs; the limit is ${MOST_RUNS}`;
    throw new PlatformError('BAD_REQUEST', message, { errors: [{ path: trials > 1 ? 'trials' : 'cases', message }] });
  }

  private async sitesOf(workspace: string, targets: readonly SelectedTarget[]): Promise<Map<string, Site>> {
    const bare = targets.find(({ target }) => target === undefined);
    if (bare) {
      const message = `${bare.cases} of the cases name no \`placement.target\`: give \`runtime\``;
      throw new PlatformError('RUNTIME_REQUIRED', message, { errors: [{ path: 'runtime', message }] });
    }
    const sites = new Map<string, Site>();
    for (const { target } of targets) {
      if (target !== undefined) sites.set(target, await this.references.target(workspace, target));
    }
    return sites;
  }
}

function unknownCases(dataset: string, ids: readonly string[]): PlatformError {
  const named = ids.slice(0, MOST_NAMED);
  const more = ids.length > named.length ? `, and ${ids.length - named.length} more` : '';
  const errors = named.map((id) => ({
    path: fieldPath(['cases', 'ids']),
    message: `${dataset} has no case ${quoted(id)}`,
  }));
  return new PlatformError('NOT_FOUND', `${dataset} has no case ${named.map((id) => quoted(id)).join(', ')}${more}`, {
    errors,
  });
}

/** One site for all, or one for each target. */
function sitesUsed(every: Site | undefined, byTarget: ReadonlyMap<string, Site>, others: readonly Use[]) {
  const used = every ? [every] : [...byTarget.values()];
  return {
    sites: every ? sameSite(every) : siteByTarget(byTarget),
    uses: [...others, ...used.map((version): Use => ({ table: 'runtimes', version }))],
  };
}

const toStored = ({ poolId, spec: { version } }: Site) => ({ poolId, version });

const sameSite = (site: Site): Sites => ({ every: toStored(site), runtime: `${site.spec.id}@${site.spec.version}` });

const siteByTarget = (sites: ReadonlyMap<string, Site>): Sites => ({
  byTarget: Object.fromEntries([...sites].map(([target, site]) => [target, toStored(site)])),
});
