import type { TrialReport } from '../contracts/comparison.js';
import { trialSection } from '../reports/comparison-sections.js';
import { sectionText } from './section-text.js';

export const trialsText = (report: TrialReport, limit: number, columns: number): string =>
  sectionText(trialSection(report, limit), columns);
