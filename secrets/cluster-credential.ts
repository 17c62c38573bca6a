/** What a runtime authenticates with: the values of the secrets it names. */
export interface ClusterCredential {
  /** Of `authSecret`: a Nomad ACL token, or a bearer token of Kubernetes. */
  token?: string;
  /** Of `kubeconfigSecret`: a whole kubeconfig. */
  kubeconfig?: string;
}
