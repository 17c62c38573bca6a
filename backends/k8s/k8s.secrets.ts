import { PlatformError } from '../../contracts/errors.js';
import { hostPartOf } from '../../policy/registry-credential.js';
import type { AllocationRef, Job } from '../backend.js';
import type { Meta, SecretDocument, Variable } from './k8s.documents.js';
import { payloadSecretName } from './k8s.names.js';

/** A Secret takes no more, in bytes of its values. */
const SECRET_BYTES = 1_048_576;
/** The document of a Job names each of them, and so does its pod's: a page of such documents is to be read in one piece. */
const MOST_FILES = 1_000;

/** Under which a variable is in the Secret of a job: no file of a payload is called so. */
const variableKey = (name: string): string => `env.${name}`;

/** Files and variables of a job. What is mounted names its files: variables are never among them. */
export function payloadSecret(job: Job, allocation: AllocationRef, metadata: Meta): SecretDocument {
  const variables = Object.entries(variablesOf(job, allocation));
  const values: [string, Uint8Array][] = [
    ...job.payload,
    ...variables.map(([name, value]): [string, Uint8Array] => [variableKey(name), Buffer.from(value)]),
  ];
  const bytes = values.reduce((sum, [, value]) => sum + value.length, 0);
  if (bytes > SECRET_BYTES) throw tooLarge(`take ${bytes} bytes, and a Secret of Kubernetes holds ${SECRET_BYTES}`);
  const { size } = job.payload;
  if (size > MOST_FILES) throw tooLarge(`are ${size} files, and a Job of Kubernetes may have ${MOST_FILES}`);
  return secret(metadata, 'Opaque', values);
}

const tooLarge = (why: string): PlatformError =>
  new PlatformError('PAYLOAD_TOO_LARGE', `its files ${why}: give the case one archive that a setup step unpacks`);

const variablesOf = ({ program }: Job, { name, nonce }: AllocationRef): Record<string, string> => ({
  ...program?.env,
  EVERDICT_ATTEMPT: name,
  EVERDICT_NONCE: nonce,
});

/** The variables that `payloadSecret` holds. Kubernetes replaces nothing in what it takes from a Secret. */
export const secretVariables = (job: Job, allocation: AllocationRef): Variable[] =>
  Object.keys(variablesOf(job, allocation)).map((name) => ({
    name,
    valueFrom: { secretKeyRef: { name: payloadSecretName(allocation), key: variableKey(name) } },
  }));

/** Where a kubelet looks for what is for the registry of images without a host, or with one of these. */
const HUB = 'https://index.docker.io/v1/';
const HUB_HOSTS: ReadonlySet<string> = new Set(['docker.io', 'index.docker.io']);

/** For the registry of the image, and for no other. */
export function pullSecret(image: string, { username, password }: NonNullable<Job['registry']>, metadata: Meta) {
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  const host = hostPartOf(image);
  const registry = host === undefined || HUB_HOSTS.has(host) ? HUB : host;
  const config = { auths: { [registry]: { username, password, auth } } };
  const file = Buffer.from(JSON.stringify(config));
  return secret(metadata, 'kubernetes.io/dockerconfigjson', [['.dockerconfigjson', file]]);
}

const secret = (
  metadata: Meta,
  type: SecretDocument['type'],
  values: readonly [string, Uint8Array][],
): SecretDocument => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata,
  type,
  immutable: true,
  data: Object.fromEntries(values.map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});
