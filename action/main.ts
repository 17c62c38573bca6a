import { error, setSecret } from '@actions/core';
import { CliError, describeFailure } from '../cli/failures.js';
import { messageOf } from '../cli/foreign-errors.js';
import { readActionEnv } from '../config/action-env.js';

import { readInputs } from './inputs.js';
import { type Occasion, occasionOf } from './occasion.js';
import { runStep } from './step.js';

/** What is said of a job that comes without anything to log in by. */
function whyAnonymous({ isFork }: Occasion): string {
  if (isFork) {
    return (
      'GitHub gives no OIDC token and no secrets to a pull request from a fork: have somebody of this repository run it, ' +
      'by `pull_request_target` with an approval, or from a branch of this repository'
    );
  }
  return 'give the job `permissions: id-token: write` and bind the repository with `everdict ci add`, or set api-key';
}

async function main(): Promise<void> {
  const env = readActionEnv();
  const inputs = readInputs();
  if (inputs['api-key'] !== undefined) setSecret(inputs['api-key']);
  const occasion = occasionOf(env);
  try {
    await runStep({ env, inputs, occasion });
  } catch (reason) {
    const isAnonymous = inputs['api-key'] === undefined && env.ACTIONS_ID_TOKEN_REQUEST_URL === undefined;
    const isRefused = reason instanceof CliError && reason.problem?.code === 'UNAUTHENTICATED';
    throw isRefused && isAnonymous ? new Error(`${reason.message}: ${whyAnonymous(occasion)}`) : reason;
  }
}

try {
  await main();
} catch (reason) {
  process.exitCode = 1;
  error(reason instanceof CliError ? describeFailure(reason) : messageOf(reason), { title: 'Everdict: no verdict' });
}
