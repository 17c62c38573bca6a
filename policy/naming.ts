/**
 * Name of the cluster object that runs one attempt: `<deployment>-<run id>-<attempt>`, with `_` and `.` of the run id
 * as `-`. A DNS-1123 label of at most 63 characters (16 + 36 + a 6-digit attempt leave room). Different inputs have
 * different names: read from the right, the attempt is all digits, and before it stands either the 26 characters of
 * a single run or the at most 6 digits of an ordinal and the 26 characters of its scorecard.
 */
export function allocationName(deployment: string, runId: string, attempt: number): string {
  return `${deployment}-${runId.replaceAll(/[_.]/g, '-')}-${attempt}`;
}

const ALLOCATION = /^(?<deployment>.+?)-(run-[0-9a-z]{26}|sc-[0-9a-z]{26}-\d{1,6})-\d+$/;

/** Whether the name is one that `allocationName` makes for this deployment. */
export const isAllocationOf = (deployment: string, name: string): boolean =>
  ALLOCATION.exec(name)?.groups?.deployment === deployment;
