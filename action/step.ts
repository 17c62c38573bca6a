import { randomUUID } from 'node:crypto';
import { kinOf } from '../cli/ci/baseline.js';
import { type Evaluation, evaluate } from '../cli/ci/evaluate.js';
import { makeRoom } from '../cli/ci/outputs.js';
import { isPolicyFile } from '../cli/ci/policy.js';
import { supersede } from '../cli/ci/supersede.js';
import { Session } from '../cli/session.js';
import type { ActionEnv } from '../config/action-env.js';
import { readCliEnv } from '../config/cli-env.js';
import { pinImage } from './image-pin.js';
import { type Inputs, keyOf } from './inputs.js';
import { metadataOf, type Occasion } from './occasion.js';
import { publish, reportFiles } from './publish.js';
import { jobTerminal } from './terminal.js';
import { workspaceFile } from './workspace-file.js';

const MINUTE_SEC = 60;

export interface Step {
  env: ActionEnv;
  inputs: Inputs;
  occasion: Occasion;
}

/** Submits, waits, judges, and tells everybody. What fails on the way is thrown; a verdict is not. */
export async function runStep(step: Step): Promise<void> {
  const session = sessionOf(step.inputs);
  await makeRoom(reportFiles(step));
  await publish(session, step, await evaluated(session, step));
}

/** Nothing is read of what somebody's login kept on the runner. */
function sessionOf(inputs: Inputs): Session {
  const given = { EVERDICT_API_KEY: inputs['api-key'], EVERDICT_WORKSPACE: inputs.workspace };
  const terminal = jobTerminal({ ...readCliEnv(), ...given, EVERDICT_GITHUB_AUDIENCE: inputs.audience });
  return new Session(terminal, { url: inputs['api-url'] });
}

async function evaluated(session: Session, { env, inputs, occasion }: Step): Promise<Evaluation> {
  const { dataset, runtime, image, trials, params, cases: ids, tags, limit, timeout } = inputs;
  const pin = { image: image ?? '', isTagAllowed: inputs['allow-mutable-image'] };
  const harness = image === undefined ? inputs.harness : await pinImage(session, inputs.harness, pin);
  const filter = { ids, tags, limit };
  const cases = Object.values(filter).some((value) => value !== undefined) ? filter : undefined;
  const metadata = metadataOf(env, occasion, keyOf(env, inputs));
  // By the names of workflow and job alone, those of a pull request and those of its base need not be the same.
  const { key, ...others } = kinOf(metadata);
  const kin = inputs.key === undefined ? others : { ...others, key: inputs.key };
  return evaluate(session, {
    scorecard: { dataset, harness, runtime, cases, trials, params, metadata },
    ...{ dataset, harness, idempotencyKey: randomUUID() },
    policy: policyOf(env, inputs),
    baseline: inputs.baseline,
    baselineBranch: inputs['baseline-branch'] ?? occasion.baseBranch,
    kin,
    earlyStop: inputs['early-stop'],
    timeoutSec: timeout === undefined ? undefined : timeout * MINUTE_SEC,
    patienceSec: inputs.patience,
    isCancelling: true,
    runs: 'all',
    ...(inputs.supersede && occasion.pr !== undefined && { onSubmitted: (id: string) => supersede(session, id) }),
  });
}

function policyOf({ GITHUB_WORKSPACE: workspace }: ActionEnv, { policy }: Inputs): string | undefined {
  const isFile = policy !== undefined && isPolicyFile(policy);
  return isFile ? workspaceFile(workspace, 'policy', policy) : policy;
}
