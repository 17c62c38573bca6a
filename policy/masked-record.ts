import type { JobRecord } from './record.js';
import type { SecretMask } from './redact.js';

/** A record in which the secrets of its job do not show. Its sizes stay as they were. */
export function maskedRecord(record: JobRecord, mask: SecretMask): JobRecord {
  if (mask.isEmpty) return record;
  const { answer, answerCut, usage, usageCut, graders } = record;
  return {
    ...record,
    answer: mask.maskedIn(answer, answerCut).shown,
    ...(usage && { usage: mask.maskedIn(usage, usageCut === true).shown }),
    // Cut without a word where it was long.
    graders: graders.map((grader) => ({ ...grader, output: mask.maskedIn(grader.output, true).shown })),
  };
}
