import { Injectable } from '@nestjs/common';
import { DatasetStore } from '../../store/dataset.store.js';
import type { RetryPlan } from '../../store/retry.store.js';
import { CaseGate, type Site } from '../common/case-gate.js';
import { Operator } from '../common/operator.js';
import { ReferencesService } from '../common/references.service.js';
import type { Use } from '../common/uses.js';

/** What is checked before cases are run again: what a submit of these cases would be, by the limits of now. */
@Injectable()
export class RetryGate {
  constructor(
    private readonly references: ReferencesService,
    private readonly datasets: DatasetStore,
    private readonly operator: Operator,
  ) {}

  async check(workspace: string, dataset: string, plan: RetryPlan): Promise<Use[]> {
    const { harness: harnessRef, params, cases, datasetPk } = plan;
    const harness = await this.references.harness(workspace, harnessRef, params);
    const sites = await this.sitesOf(workspace, plan);
    const gate = new CaseGate(harness.spec, params, this.operator);
    for await (const { case: evalCase } of this.datasets.selectedCases(datasetPk, { ids: [...cases.keys()] })) {
      const site = sites.get(cases.get(evalCase.id) ?? '');
      if (site) gate.check(evalCase, site);
      if (!gate.isOpen) break;
    }
    gate.close();
    return [
      { table: 'datasets', version: await this.references.dataset(workspace, dataset) },
      { table: 'harnesses', version: harness },
      ...[...sites.values()].map((version): Use => ({ table: 'runtimes', version })),
    ];
  }

  private async sitesOf(workspace: string, { cases, hasRuntime }: RetryPlan): Promise<Map<string, Site>> {
    const sites = new Map<string, Site>();
    for (const ref of new Set(cases.values())) {
      sites.set(
        ref,
        await (hasRuntime ? this.references.site(workspace, ref) : this.references.target(workspace, ref)),
      );
    }
    return sites;
  }
}
