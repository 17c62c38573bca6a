import { ClusterFailure } from '../backends/cluster-client.js';
import { Egress } from '../backends/egress/guard.js';
import { BackendResolver, type ResolvedRuntime } from '../backends/resolver.js';
import { ERROR_CODES, type ErrorCode, PlatformError } from '../contracts/errors.js';
import { FakeNomad } from '../dev/fake-nomad/fake-nomad.js';
import { parseAllowList } from '../policy/addresses.js';
import { ClusterCredentials } from '../secrets/cluster-credential.js';
import { aNomadRuntime, PATIENCE } from '../test/builders.js';
import { MANAGEMENT, UNKNOWN } from '../test/nomad-lab.js';
import { onCluster } from './on-cluster.js';

let nomad: FakeNomad;
/** What the secret `token` holds, and how often it was set. */
let secret = { value: MANAGEMENT, version: 1 };
beforeAll(async () => {
  nomad = await FakeNomad.start({ acl: { tokens: { [MANAGEMENT]: { type: 'management' } } } });
});
afterAll(() => nomad.stop());
beforeEach(() => {
  nomad.reset();
  secret = { value: MANAGEMENT, version: 1 };
});

const resolver = (allow = '127.0.0.0/8') =>
  new BackendResolver({
    clusters: {
      credentials: new ClusterCredentials({
        versions: async () => new Map([['token', secret.version]]),
        open: async () => [
          { kind: 'open', name: 'token', use: 'cluster', bindings: [nomad.url, 'http://127.0.0.1:1'], ...secret },
        ],
      }),
      egress: new Egress(parseAllowList(allow).rules),
      deployment: 'dep',
      nomadConnections: 2,
      patience: PATIENCE,
    },
  });
const target = (parts: Record<string, unknown> = {}) => ({
  owner: 'default',
  spec: aNomadRuntime({ addr: nomad.url, authSecret: 'token', ...parts }),
  isConfirmed: true,
});
const look = ({ cluster }: ResolvedRuntime) => cluster.inspect(AbortSignal.timeout(5_000));

test.each<[string, () => void, Record<string, unknown>, string, RegExp, boolean]>([
  [
    'a token that is refused',
    () => {
      secret.value = UNKNOWN;
    },
    {},
    'CLUSTER_AUTH',
    /^runtime cluster@1\.0\.0 with secret token: it does not know the ACL token \(403\)$/,
    false,
  ],
  [
    'a runtime without a token',
    () => undefined,
    { authSecret: undefined },
    'CLUSTER_AUTH',
    /without a secret: .*authSecret/,
    false,
  ],
  [
    'nothing that listens',
    () => undefined,
    { addr: 'http://127.0.0.1:1' },
    'CLUSTER_UNREACHABLE',
    /ECONNREFUSED/,
    true,
  ],
  [
    'a cluster without a leader',
    () => nomad.script('/v1/agent/self', { status: 500, body: 'No cluster leader' }),
    {},
    'CLUSTER_UNREACHABLE',
    /no leader/,
    true,
  ],
])('%s is told by a code of the platform', async (_title, arrange, parts, code, message, isRetryable) => {
  arrange();
  const failure = onCluster(resolver(), target(parts), look);
  await expect(failure).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  await expect(failure).rejects.not.toMatchObject({ message: expect.stringContaining(secret.value) });
  expect(ERROR_CODES[code as ErrorCode].isRetryable).toBe(isRetryable);
});

test('an address that may not be asked is a fault of the spec, and nothing is sent', async () => {
  await expect(onCluster(resolver(''), target(), look)).rejects.toMatchObject({ code: 'BAD_SPEC' });
  expect(nomad.requests).toEqual([]);
});

test('a token that is refused is looked up anew once, and work goes on with the one that is set by then', async () => {
  secret.value = UNKNOWN;
  let begun = 0;
  const work = async (runtime: ResolvedRuntime) => {
    begun += 1;
    if (begun === 1) secret = { value: MANAGEMENT, version: 2 };
    return look(runtime);
  };
  const process = resolver();
  await onCluster(process, target(), look).catch(() => undefined);
  await expect(onCluster(process, target(), work)).resolves.toMatchObject({ kind: 'nomad' });
  expect(begun).toBe(2);
});

test('so is one that is refused as what the runtime says of it', async () => {
  let begun = 0;
  const work = async () => {
    begun += 1;
    if (begun > 1) return 'done';
    secret = { value: MANAGEMENT, version: 2 };
    const cause = new ClusterFailure('auth', 'the ACL token may not do this');
    throw new ClusterFailure('refused', 'the ACL token may not run jobs in evals', { cause });
  };
  await expect(onCluster(resolver(), target(), work)).resolves.toBe('done');
});

test('what is no matter of the cluster is thrown as it is', async () => {
  const error = new Error('of the work');
  await expect(onCluster(resolver(), target(), () => Promise.reject(error))).rejects.toBe(error);
});

test('nothing of what a cluster was sent in secret is told, though it repeats it', async () => {
  const nonce = 'a nonce of an attempt';
  const work = async (): Promise<never> => {
    throw new PlatformError('BAD_SPEC', `Nomad refuses the job: bad ${MANAGEMENT} and ${nonce}`);
  };
  const told = onCluster(resolver(), target(), work, [nonce]);
  await expect(told).rejects.toMatchObject({
    code: 'BAD_SPEC',
    message: expect.stringMatching(/^Nomad refuses the job: bad \*+ and \*+$/),
  });
});
