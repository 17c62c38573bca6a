import { realpathSync } from 'node:fs';
import path from 'node:path';

/** The file that an input names, from the root of the workspace: a path that leads out of it, also by a link, is refused. */
export function workspaceFile(workspace: string, input: string, given: string): string {
  const root = realpathSync(workspace);
  const file = path.resolve(root, given);
  const fromRoot = path.relative(root, targetOf(file));
  if (fromRoot !== '..' && !fromRoot.startsWith(`..${path.sep}`) && !path.isAbsolute(fromRoot)) return file;
  throw new Error(`the input ${input} names a file that is not of the workspace: give one that is checked out there`);
}

/** Where links lead. What is not there, or cannot be looked at, is named as such by whoever reads it. */
function targetOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
