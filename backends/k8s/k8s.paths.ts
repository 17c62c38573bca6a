const inNamespace = (group: string, resource: string) => {
  const base = group ? `/apis/${group}/v1` : '/api/v1';
  return {
    /** Of all that a namespace has. */
    all: (namespace: string): string => `${base}/namespaces/${encodeURIComponent(namespace)}/${resource}`,
    /** Names of ours are labels; what a cluster or a row says is encoded all the same. */
    one: (namespace: string, name: string): string =>
      `${base}/namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}`,
  };
};

const [jobs, pods, secrets] = [inNamespace('batch', 'jobs'), inNamespace('', 'pods'), inNamespace('', 'secrets')];
const policies = inNamespace('networking.k8s.io', 'networkpolicies');

export const { all: jobsPath, one: jobPath } = jobs;
export const { all: podsPath, one: podPath } = pods;
export const { all: secretsPath, one: secretPath } = secrets;
export const { all: networkPoliciesPath, one: networkPolicyPath } = policies;
export const { all: eventsPath } = inNamespace('', 'events');
export const podLogPath = (namespace: string, pod: string): string => `${podPath(namespace, pod)}/log`;
