import { Gauge, type Registry } from 'prom-client';
import type { Coverage } from '../../store/prediction.store.js';

/** How far estimates of waits come true. */
export class EstimateGauges {
  private readonly coverage: Gauge<'quantile'>;
  private readonly predictions: Gauge<'quantile'>;

  constructor(registry: Registry) {
    const [labelNames, registers] = [['quantile'] as const, [registry]];
    this.coverage = new Gauge({
      name: 'everdict_eta_coverage',
      help:
        'Share of the waits predicted in the last 24 hours whose run had started by then: near its quantile where ' +
        'estimates are right. NaN without any.',
      ...{ labelNames, registers },
    });
    this.predictions = new Gauge({
      name: 'everdict_eta_predictions',
      help: 'Predictions of the last 24 hours whose time has come: what everdict_eta_coverage is a share of.',
      ...{ labelNames, registers },
    });
    this.show([]);
  }

  show(covered: readonly Coverage[]): void {
    for (const quantile of ['0.5', '0.9']) {
      this.predictions.set({ quantile }, 0);
      this.coverage.set({ quantile }, Number.NaN);
    }
    for (const { quantile, predictions, cameTrue } of covered) {
      this.predictions.set({ quantile }, predictions);
      this.coverage.set({ quantile }, cameTrue / predictions);
    }
  }
}
