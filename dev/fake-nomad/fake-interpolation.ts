import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import type { TaskDocument, Template } from './fake-documents.js';

export type Variables = ReadonlyMap<string, string>;

/** Why a task cannot start as its document has it. */
export class Unfit extends Error {}

const NAME = /\$\{([a-zA-Z0-9_\-.]+)\}/g;

/** As values of `Env` are read: what is known is put in, all else stays. */
export const expandKnown = (text: string, known: Variables): string =>
  text.replace(NAME, (whole, name: string) => known.get(name) ?? whole);

/** As the configuration of a driver is read: an expression that means nothing keeps the task from starting. */
export function expandConfig(value: unknown, known: Variables): unknown {
  if (typeof value === 'string') return expandTemplate(value, known);
  if (Array.isArray(value)) return value.map((item) => expandConfig(item, known));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expandConfig(item, known)]));
}

function expandTemplate(text: string, known: Variables): string {
  return text.replace(/\$\$\{|%%\{|%\{|\$\{([^}]*)\}?/g, (whole, name: string | undefined) => {
    if (whole === '$${' || whole === '%%{') return whole.slice(1);
    const value = name === undefined ? undefined : known.get(name.trim());
    if (value !== undefined && whole.endsWith('}')) return value;
    throw new Unfit(`failed to parse config: Unknown variable: There is no variable named "${name ?? whole}".`);
  });
}

/** Directories of one task, on the disk of the machine that runs the fake. */
export interface TaskDirectories {
  allocation: string;
  task: string;
  local: string;
  secrets: string;
  shared: string;
}

export async function writeTemplates(
  { Templates }: TaskDocument,
  { allocation, task }: TaskDirectories,
  known: Variables,
): Promise<void> {
  for (const template of Templates) {
    const path = resolve(task, expandKnown(template.DestPath, known));
    if (!path.startsWith(allocation + sep)) throw new Unfit('template destination path escapes alloc directory');
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, rendered(template));
    await chmod(path, Number.parseInt(template.Perms ?? '0644', 8));
  }
}

/** Text goes as it is. Of actions a comment is known: all else between the delimiters is refused as not to be parsed. */
function rendered({ EmbeddedTmpl, LeftDelim, RightDelim }: Template): string {
  const left = LeftDelim || '{{';
  const at = EmbeddedTmpl.indexOf(left);
  if (at < 0) return EmbeddedTmpl;
  const right = RightDelim || '}}';
  const line = EmbeddedTmpl.slice(0, at).split('\n').length;
  const end = EmbeddedTmpl.indexOf(right, at + left.length);
  if (EmbeddedTmpl === `${left}/**/${right}`) return '';
  const what =
    end < 0 ? 'unclosed action' : `function ${JSON.stringify(EmbeddedTmpl.slice(at + left.length, end))} not defined`;
  throw new Unfit(`(dynamic): parse: template: :${line}: ${what}`);
}
