import { PlatformError } from '../contracts/errors.js';
import { isContainerRuntime } from '../policy/capabilities.js';
import { imageOf } from '../policy/demand.js';
import { gitCredentialOf, gitHostOf } from '../policy/git-credential.js';
import { type GivenSecrets, secretNames } from '../policy/job-parts.js';
import { SecretMask } from '../policy/redact.js';
import { registryCredentialOf, registryHosts } from '../policy/registry-credential.js';
import type { AskedSecrets, OpenSecret, SecretReading, SecretStore } from '../secrets/secret.store.js';
import type { RunJob } from '../store/run.store.js';

/** What of a run says which secrets its job is given. */
type Needs = Pick<RunJob, 'workspaceId' | 'harness' | 'case' | 'isConfirmed' | 'runtime'>;

interface Readings {
  /** Of the secrets that the harness names. */
  env: SecretReading[];
  /** Of the one for the host of the case's repository. */
  git?: SecretReading;
  /** Of the one for the registry of the image. */
  registry?: SecretReading;
}

/** Reads the secrets of a job, each time anew: what is set now reaches the attempts that begin now. */
export class JobSecrets {
  constructor(private readonly secrets: Pick<SecretStore, 'open' | 'forHost' | 'replacedSince'>) {}

  /** Refuses, by its name, what cannot be read or is for something else. */
  async of(needs: Needs): Promise<GivenSecrets> {
    const { id, version } = needs.harness;
    if (!needs.isConfirmed) return unconfirmed(needs);
    const { env, git, registry } = await this.read(needs);
    return {
      env: new Map(env.map((each) => [each.name, readValue(each, `harness ${id}@${version} names`)])),
      ...(git && { git: gitCredentialOf(readValue(git, 'the repository of the case needs')) }),
      ...(registry && { registry: registryCredentialOf(readValue(registry, 'the registry of the image needs')) }),
    };
  }

  /** Hides what a job of an attempt may have been given, also where that is another value by now, or gone. */
  async maskSince(needs: Needs, openedAt: number): Promise<SecretMask> {
    const { env, git, registry } = await this.read(needs);
    const earlier = await this.secrets.replacedSince(needs.workspaceId, askedOf(needs), openedAt);
    const open = [...env, ...(git ? [git] : []), ...(registry ? [registry] : []), ...earlier].filter(
      (each) => each.kind === 'open',
    );
    return new SecretMask(open.map(hiddenOf));
  }

  private async read(needs: Needs): Promise<Readings> {
    const { workspaceId } = needs;
    const asked = askedOf(needs);
    const named = await this.secrets.open(workspaceId, asked.names);
    const git = await this.secrets.forHost(workspaceId, 'git', asked.git);
    const registry = await this.secrets.forHost(workspaceId, 'registry', asked.registry);
    // One for something else is no secret of this job, whoever names it.
    const own = named.map((each): SecretReading => {
      if (each.kind !== 'open' || each.use === 'env') return each;
      return { kind: 'closed', name: each.name, reason: `is for ${each.use}, and not for the environment of a job` };
    });
    return { env: own, ...(git && { git }), ...(registry && { registry }) };
  }
}

function askedOf({ harness, case: evalCase, runtime }: Needs): AskedSecrets {
  const host = gitHostOf(evalCase.env);
  const image = isContainerRuntime(runtime) ? imageOf(evalCase, harness, runtime) : undefined;
  return {
    names: secretNames(harness),
    git: host === undefined ? [] : [host],
    registry: image === undefined ? [] : registryHosts(image),
  };
}

/** What of a value nobody is to see. */
function hiddenOf({ use, value }: OpenSecret): string {
  if (use === 'git') return gitCredentialOf(value).password;
  return use === 'registry' ? registryCredentialOf(value).password : value;
}

/** What nobody answers for is given nothing. */
function unconfirmed({ harness }: Needs): GivenSecrets {
  if (secretNames(harness).length === 0) return { env: new Map() };
  const message = `harness ${harness.id}@${harness.version} names secrets, and it or its runtime is unconfirmed: it is given none`;
  throw new PlatformError('SECRET_MISSING', message);
}

function readValue(reading: SecretReading, whose: string): string {
  if (reading.kind === 'open') return reading.value;
  const why = reading.kind === 'closed' ? reading.reason : 'is not there';
  throw new PlatformError('SECRET_MISSING', `${whose} the secret ${reading.name}, which ${why}`);
}

/** What nobody may be shown of what a job was given. */
export const valuesOf = ({ env, git, registry }: GivenSecrets): string[] => [
  ...env.values(),
  ...(git ? [git.password] : []),
  ...(registry ? [registry.password] : []),
];

/** Hides what a job was given in what it says. */
export const maskOf = (given: GivenSecrets): SecretMask => new SecretMask(valuesOf(given));
