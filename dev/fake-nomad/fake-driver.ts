import { readDevEnv } from '../../config/dev-env.js';
import type { TaskDocument } from './fake-documents.js';
import { expandConfig, expandKnown, type TaskDirectories, Unfit, type Variables } from './fake-interpolation.js';

export interface Command {
  argv: [string, ...string[]];
  env: Record<string, string>;
  cwd: string;
  /** Of a container. */
  image?: string;
}

/** Whatever the driver: programs are those of this machine. */
const { PATH } = readDevEnv();

export const isContainer = ({ Driver }: TaskDocument): boolean => Driver === 'docker' || Driver === 'podman';

/** What its driver would run; in a container relative paths lead nowhere. */
export function commandOf(task: TaskDocument, known: Variables, directories: TaskDirectories): Command {
  const config = expandConfig(task.Config, known) as Record<string, unknown>;
  const { image, command, args = [], entrypoint = [] } = config;
  const argv = [...texts(entrypoint), ...(command === undefined ? [] : texts([command])), ...texts(args)];
  const [program, ...rest] = argv;
  if (isContainer(task) ? typeof image !== 'string' : command === undefined) {
    throw new Unfit(`failed to parse config: The argument "${isContainer(task) ? 'image' : 'command'}" is required`);
  }
  if (program === undefined) throw new Unfit('the fake runs a container only where it is told a command');
  const own = Object.entries(task.Env).map(([name, value]) => [name, expandKnown(value, known)] as const);
  const ofNomad = [...known].filter(([name]) => name.startsWith('NOMAD_'));
  return {
    argv: [program, ...rest],
    env: { PATH, ...Object.fromEntries(ofNomad), ...Object.fromEntries(own) },
    cwd: isContainer(task) ? '/' : directories.task,
    ...(typeof image === 'string' && { image }),
  };
}

function texts(value: unknown): string[] {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  if (items.every((item) => typeof item === 'string')) return items;
  throw new Unfit('failed to parse config: Incorrect attribute value type: a list of strings is required');
}
