/** Selects among the workspaces of the caller. */
export const WORKSPACE_HEADER = 'x-everdict-workspace';
