import { PlatformError } from '../../contracts/errors.js';
import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import type { AllocationRef, Job, JobOwner } from '../backend.js';
import type { NomadDriverConfig, NomadGroup, NomadJobDocument } from './nomad.document.js';
import { DOLLAR_META, isInterpreted, literal, literalValue } from './nomad.escape.js';
import { enforcedOf, type ResourceSpec, resourcesOf } from './nomad.resources.js';
import { PAYLOAD_DIR, templatesOf } from './nomad.templates.js';
import { isSince } from './nomad.version.js';

export const NOMAD_GROUP = 'case';
export const NOMAD_TASK = 'case';

/** Files of one stream that a client keeps, and the size at which it begins the next: of what is longer, the end. */
export const LOG_FILES = 10;
export const LOG_FILE_MB = 10;
/** For the work directory of a case. Nomad places by it and does not enforce it. */
const WORK_MB = 300;
/** Nomad takes no job whose logs may be larger than its disk; there are two streams. */
export const DISK_MB = 2 * LOG_FILES * LOG_FILE_MB + WORK_MB;

const SECOND = 1_000_000_000;
const KILL_TIMEOUT = 5 * SECOND;
const DAY = 86_400 * SECOND;

/** What of a runtime its jobs are made of. */
type Spec = ResourceSpec & Pick<NomadRuntimeSpec, 'runtime' | 'region' | 'namespace' | 'datacenters' | 'constraints'>;

/** The job of one attempt: placed once, started once. Without `clusterVersion` it is one that every Nomad takes. */
export function nomadJob(
  job: Job,
  { name, nonce }: AllocationRef,
  spec: Spec,
  clusterVersion?: string,
): NomadJobDocument {
  const meta = metaOf(job.owner);
  const env = { ...job.program?.env, EVERDICT_ATTEMPT: name, EVERDICT_NONCE: nonce, ...metaVariables(meta) };
  const needsDollar = Object.values(env).some(isInterpreted);
  return {
    ID: name,
    Name: name,
    Type: 'batch',
    ...(spec.region !== undefined && { Region: spec.region }),
    Namespace: spec.namespace ?? 'default',
    Datacenters: spec.datacenters,
    Meta: meta,
    TaskGroups: [
      {
        Name: NOMAD_GROUP,
        Count: 1,
        ...constraintsOf(spec),
        RestartPolicy: { Attempts: 0, Mode: 'fail', Interval: DAY, Delay: 0 },
        ReschedulePolicy: { Attempts: 0, Unlimited: false },
        ...onDisconnect(clusterVersion),
        EphemeralDisk: { SizeMB: DISK_MB },
        Tasks: [
          {
            Name: NOMAD_TASK,
            Driver: spec.driver,
            Config: configOf(job, spec),
            Env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, literalValue(value)])),
            ...(needsDollar && { Meta: DOLLAR_META }),
            Templates: templatesOf(job.payload),
            Resources: resourcesOf(job, spec, clusterVersion),
            LogConfig: { MaxFiles: LOG_FILES, MaxFileSizeMB: LOG_FILE_MB },
            KillTimeout: KILL_TIMEOUT,
            KillSignal: 'SIGTERM',
          },
        ],
      },
    ],
  };
}

/** Whose a job is, as it says itself: for people, for sweeps, and for `isOurs`. */
export const metaOf = (owner: JobOwner): Record<string, string> => ({
  deployment: owner.deployment,
  workspace: owner.workspaceId,
  ...(owner.scorecardId !== undefined && { scorecard: owner.scorecardId }),
  run: owner.runId,
  attempt: String(owner.attempt),
  case: owner.caseId,
  expires: new Date(owner.expiresAt).toISOString(),
});

/** Whether a job of our name was made for this attempt. Each try of it computes another expiry. */
export function isOurs(meta: Readonly<Record<string, string>> | null | undefined, owner: JobOwner): boolean {
  const { expires: _, ...own } = metaOf(owner);
  return Object.entries(own).every(([key, value]) => meta?.[key] === value);
}

/** Nomad makes variables of meta, and interprets them: what a user wrote there is said again, so that it stays as it is. */
const metaVariables = (meta: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(meta)
      .filter(([, value]) => isInterpreted(value))
      .flatMap(([key, value]) => [key, key.toUpperCase()].map((name) => [`NOMAD_META_${name}`, value])),
  );

function constraintsOf({ constraints = [] }: Spec): Pick<NomadGroup, 'Constraints'> {
  if (constraints.length === 0) return {};
  return {
    Constraints: constraints.map(({ attribute, operator, value }) => ({
      LTarget: attribute,
      Operand: operator,
      RTarget: value,
    })),
  };
}

/**
 * A lost allocation is replaced by default, even with no attempts left. Since 1.8 that can be turned off. Before, the
 * replacement can be put off for longer than it takes to learn of the loss and to stop the job.
 */
function onDisconnect(version: string | undefined): Pick<NomadGroup, 'Disconnect' | 'StopAfterClientDisconnect'> {
  if (version !== undefined && !isSince(version, 8)) return { StopAfterClientDisconnect: DAY };
  // What a Nomad does not know of a document it leaves out.
  return { Disconnect: { Replace: false } };
}

/** An image's own entrypoint is never run: what a case is, its job says. */
function configOf({ program, image, registry }: Job, { id, version, driver, runtime }: Spec): NomadDriverConfig {
  const [command = '', ...args] = program ? programLine(program.entrypoint) : WRAPPER_LINE;
  if (driver === 'exec' || driver === 'raw_exec') return { command, args };
  if (image === undefined) {
    throw new PlatformError('BAD_SPEC', `runtime ${id}@${version} with driver ${driver} needs an \`image\``);
  }
  return {
    image: literal(image),
    entrypoint: [command],
    args,
    force_pull: false,
    ...(driver === 'docker' && runtime !== undefined && { runtime: literal(runtime) }),
    ...(registry && { auth: { username: literal(registry.username), password: literal(registry.password) } }),
  };
}

/** Nomad replaces these two, which it gives to every task. */
const PAYLOAD = `\${NOMAD_SECRETS_DIR}/${PAYLOAD_DIR.split('/').slice(1).join('/')}`;
const STATE = `\${NOMAD_TASK_DIR}`;
const WRAPPER_LINE = ['/bin/sh', `${PAYLOAD}/wrapper.sh`, PAYLOAD, STATE];

const programLine = (entrypoint: readonly string[]): string[] => [...entrypoint.map(literal), PAYLOAD];

/** What of a document is part of a run's record: where it may run, in what, and with what. */
export function attestedOf(job: Job, spec: Spec): Record<string, unknown> {
  const { driver, runtime, datacenters } = spec;
  const isContainer = driver === 'docker' || driver === 'podman';
  return {
    driver,
    ...(isContainer && { image: job.image, ...(runtime !== undefined && driver === 'docker' && { runtime }) }),
    datacenters,
    ...(spec.constraints?.length && { constraints: spec.constraints }),
    enforced: enforcedOf(job, spec),
  };
}
