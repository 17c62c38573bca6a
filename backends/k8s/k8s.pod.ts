import type { K8sRuntimeSpec } from '../../contracts/runtime.js';
import { GIT_CREDENTIAL_FILE } from '../../policy/git-credential.js';
import type { AllocationRef, Job } from '../backend.js';
import type { Patience } from '../cluster.js';
import type { Container, PodSpec, Volume } from './k8s.documents.js';
import { K8S_CONTAINER, K8S_INIT_CONTAINER, payloadSecretName, pullSecretName } from './k8s.names.js';
import { resourcesOf } from './k8s.resources.js';
import { secretVariables } from './k8s.secrets.js';

/** What of a runtime its pods are made of. */
export type PodSource = Pick<
  K8sRuntimeSpec,
  'image' | 'placementPatienceSec' | 'runtimeClass' | 'nodeSelector' | 'tolerations'
>;

const PAYLOAD = '/everdict/payload';
const STATE = '/everdict/state';
/** Where the payload is while it is copied. */
const GIVEN = '/everdict/given';
const READ_ONLY = 0o444;
/** Seconds between TERM and KILL. */
const GRACE_SEC = 5;

/** The pod of one attempt: placed once, started once, with no right on the cluster that runs it. */
export function podOf(job: Job, allocation: AllocationRef, spec: PodSource, patience: Patience): PodSpec {
  const isCopied = job.payload.has(GIT_CREDENTIAL_FILE);
  const container = containerOf(job, spec);
  const { runtimeClass, nodeSelector = {}, tolerations = [] } = spec;
  return {
    restartPolicy: 'Never',
    // Of the pod: that of a Job deletes its pod, and the log with it.
    activeDeadlineSeconds: Math.ceil(spec.placementPatienceSec + (patience.startMs + job.lifeMs) / 1_000),
    terminationGracePeriodSeconds: GRACE_SEC,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    ...(runtimeClass !== undefined && { runtimeClassName: runtimeClass }),
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    ...(tolerations.length > 0 && { tolerations }),
    ...(job.registry && { imagePullSecrets: [{ name: pullSecretName(allocation) }] }),
    ...(isCopied && { initContainers: [copying(container)] }),
    containers: [
      {
        ...container,
        ...lineOf(job),
        env: secretVariables(job, allocation),
        volumeMounts: [
          isCopied ? { name: 'copy', mountPath: PAYLOAD } : { name: 'payload', mountPath: PAYLOAD, readOnly: true },
          { name: 'state', mountPath: STATE },
        ],
      },
    ],
    volumes: volumesOf(job, allocation, isCopied),
  };
}

type Common = Pick<Container, 'name' | 'image' | 'imagePullPolicy' | 'resources' | 'securityContext'>;

function containerOf(job: Job, spec: PodSource): Common {
  const { image = spec.image } = job;
  return {
    name: K8S_CONTAINER,
    image,
    imagePullPolicy: isMoving(image) ? 'Always' : 'IfNotPresent',
    ...resourcesOf(job),
    securityContext: { allowPrivilegeEscalation: false },
  };
}

/** Whether a name stands for whatever was pushed last, as for every container engine. */
const isMoving = (image: string): boolean => !image.includes('@') && /(^|\/)[^:/]+(:latest)?$/.test(image);

const COPY = `for file in "$1"/*; do cat "$file" >"$2/\${file##*/}" || exit; done`;

/** A credential is to be deleted before the agent runs, and nothing is deleted from a Secret. It is kept off disks. */
const copying = (container: Common): Container => ({
  ...container,
  name: K8S_INIT_CONTAINER,
  command: ['/bin/sh', '-c', literal(COPY), 'sh'],
  args: [GIVEN, PAYLOAD],
  volumeMounts: [
    { name: 'payload', mountPath: GIVEN, readOnly: true },
    { name: 'copy', mountPath: PAYLOAD },
  ],
});

/** An image's own entrypoint is never run: what a case is, its job says. A program begins in an empty directory. */
function lineOf({ program }: Job): Pick<Container, 'command' | 'args' | 'workingDir'> {
  if (program) return { command: program.entrypoint.map(literal), args: [PAYLOAD], workingDir: STATE };
  return { command: ['/bin/sh', `${PAYLOAD}/wrapper.sh`], args: [PAYLOAD, STATE] };
}

/** Kubernetes replaces `$(NAME)` in command lines, and takes two dollars for one. */
const literal = (text: string): string => text.replaceAll('$', '$$$$');

function volumesOf({ payload }: Job, allocation: AllocationRef, isCopied: boolean): Volume[] {
  const secretName = payloadSecretName(allocation);
  const items = [...payload.keys()].map((name) => ({ key: name, path: name }));
  return [
    { name: 'payload', secret: { secretName, defaultMode: READ_ONLY, items } },
    ...(isCopied ? [{ name: 'copy', emptyDir: { medium: 'Memory' as const } }] : []),
    { name: 'state', emptyDir: {} },
  ];
}
