/** What is named after an allocation. Objects of one kind and name are one and the same; all names have at most 63 characters. */
interface Named {
  name: string;
}

/** The container whose log and end are the job's: others may be put beside it. */
export const K8S_CONTAINER = 'main';
/** Runs before it where the payload is to be a copy. */
export const K8S_INIT_CONTAINER = 'payload';

export const payloadSecretName = ({ name }: Named): string => name;
/** Of the credential for the registry of its image. */
export const pullSecretName = ({ name }: Named): string => `${name}-ip`;
export const networkPolicyName = ({ name }: Named): string => name;
