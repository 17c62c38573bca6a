import { JOB_RIGHTS, NETWORK_RIGHTS, type Right } from '../../backends/k8s/k8s.rights.js';

export interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

/** The rules of the Role that operators are told to give us. */
export const documentedRules = async (): Promise<Rule[]> => [...JOB_RIGHTS, ...NETWORK_RIGHTS].map(ruleOf);

const ruleOf = ({ group, resource, subresource, verb }: Right): Rule => ({
  apiGroups: [group],
  resources: [subresource ? `${resource}/${subresource}` : resource],
  verbs: [verb],
});
