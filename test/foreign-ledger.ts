import { sleep } from '@temporalio/workflow';

/** A ledger whose history says something else than the product's would. */
export async function admissionWorkflow(): Promise<void> {
  await sleep('1 day');
}
