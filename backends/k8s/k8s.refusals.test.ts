import { PlatformError } from '../../contracts/errors.js';
import { refusal } from '../../test/scripted-k8s.js';
import { ClusterFailure } from '../cluster-client.js';
import { refusalOf } from './k8s.failures.js';
import { explained, quotaIn } from './k8s.refusals.js';

const said = (code: number, reason: string, message: string, details: object = {}): unknown =>
  explained(refusalOf({ status: code, ...refusal(code, reason, message, details) }), 'evals');
const cause = (field: string, message: string) => ({ reason: 'FieldValueInvalid', message, field });
const POD = 'spec.template.spec';
const RIGHT =
  'jobs.batch is forbidden: User "system:serviceaccount:lab:d" cannot create resource "jobs" in API group "batch" in the namespace "evals"';

test.each<[string, unknown, string]>([
  [
    'K15 two causes are both told, with the fields of ours',
    said(422, 'Invalid', 'Job.batch "x" is invalid', {
      causes: [
        cause(`${POD}.nodeSelector`, 'Invalid value: "a b"'),
        cause(`${POD}.containers[0].image`, 'Required value'),
      ],
    }),
    `Kubernetes refuses the job: \`nodeSelector\`: ${POD}.nodeSelector: Invalid value: "a b"; \`image\`: ${POD}.containers[0].image: Required value`,
  ],
  [
    'K15 one without a field of ours is told with that of Kubernetes',
    said(422, 'Invalid', 'm', { causes: [cause('metadata.labels', 'Invalid value: "a/b": a valid label')] }),
    'Kubernetes refuses the job: metadata.labels: Invalid value: "a/b": a valid label',
  ],
  [
    'many causes are counted',
    said(422, 'Invalid', 'm', { causes: Array.from({ length: 6 }, (_, i) => cause(`spec.f${i}`, 'no')) }),
    'Kubernetes refuses the job: spec.f0: no; spec.f1: no; spec.f2: no; spec.f3: no; and 2 more',
  ],
  [
    'causes without fields are told by the message',
    said(422, 'Invalid', 'jobs.batch "vap" is forbidden: ValidatingAdmissionPolicy denied request', {
      causes: [{ message: 'x' }],
    }),
    'Kubernetes refuses the job: jobs.batch "vap" is forbidden: ValidatingAdmissionPolicy denied request',
  ],
  [
    'a right that is missing is named, and where it is described',
    said(403, 'Forbidden', RIGHT, { kind: 'jobs' }),
    '`namespace`: the account system:serviceaccount:lab:d may not create jobs.batch in evals, if there is such a namespace (403): docs/runbooks/kubernetes.md has the Role',
  ],
  [
    'a namespace that does not exist',
    said(404, 'NotFound', 'namespaces "evals" not found', { kind: 'namespaces', name: 'evals' }),
    '`namespace`: Kubernetes has no namespace evals: create it there, or name another',
  ],
  [
    'a namespace that is being deleted',
    said(403, 'Forbidden', 'jobs.batch "x" is forbidden: unable to create new content', {
      causes: [{ reason: 'NamespaceTerminating', message: 'm' }],
    }),
    '`namespace`: evals is being deleted in Kubernetes: name another',
  ],
  [
    'an admission webhook that denies',
    said(400, 'BadRequest', 'admission webhook "w" denied the request: no\u001b[2Jthanks'),
    'Kubernetes refuses the job: admission webhook "w" denied the request: no [2Jthanks',
  ],
  [
    'PodSecurity that denies',
    said(403, 'Forbidden', 'jobs.batch "x" is forbidden: violates PodSecurity "restricted:latest"'),
    'Kubernetes refuses the job: jobs.batch "x" is forbidden: violates PodSecurity "restricted:latest"',
  ],
])('%s', (_title, error, message) => {
  expect(error).toBeInstanceOf(ClusterFailure);
  expect(error).toMatchObject({ reason: 'refused', message });
});

test.each<[string, unknown]>([
  ['a body that is too large', said(413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728')],
  [
    'a Secret that is too large',
    said(422, 'Invalid', 'm', { causes: [cause('data', 'Too long: may not be more than 1048576 bytes')] }),
  ],
  [
    'a Job that is too large for the store, which complains of labels',
    said(422, 'Invalid', "m: Invalid value: must be 'u', selector not auto-generated"),
  ],
])('%s is a payload that is too large', (_title, error) => {
  expect(error).toBeInstanceOf(PlatformError);
  expect(error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
});

test('a webhook that does not answer is named, and tried again later', () => {
  const message = 'Internal error occurred: failed calling webhook "w.example.com": connection refused';
  expect(said(500, 'InternalError', message)).toMatchObject({
    reason: 'error',
    message: `an admission webhook of the cluster does not answer it (500): ${message}`,
  });
});

test('what is no refusal of an object stays what it is', () => {
  const others = [
    new Error('x'),
    refusalOf({ status: 401, ...refusal(401, 'Unauthorized') }),
    refusalOf({ status: 503 }),
  ];
  for (const error of others) expect(explained(error, 'evals')).toBe(error);
});

test('K19 a quota of Jobs is told in its own numbers, and is no refusal for good', () => {
  const message =
    'jobs.batch "third" is forbidden: exceeded quota: jq, requested: count/jobs.batch=1, used: count/jobs.batch=2, limited: count/jobs.batch=2';
  expect(quotaIn(refusalOf({ status: 403, ...refusal(403, 'Forbidden', message) }))).toBe(
    'placement blocked: the quota jq is used up (requested: count/jobs.batch=1, used: count/jobs.batch=2, limited: count/jobs.batch=2)',
  );
  expect(quotaIn(refusalOf({ status: 403, ...refusal(403, 'Forbidden', RIGHT) }))).toBeUndefined();
});
