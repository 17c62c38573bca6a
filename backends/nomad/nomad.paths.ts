/** Names of ours are labels; what a cluster or a row says is encoded all the same. */
export const jobPath = (name: string): string => `/v1/job/${encodeURIComponent(name)}`;
export const allocationsPath = (name: string): string => `${jobPath(name)}/allocations`;
export const evaluationsPath = (name: string): string => `${jobPath(name)}/evaluations`;
export const allocationPath = (id: string): string => `/v1/allocation/${encodeURIComponent(id)}`;
