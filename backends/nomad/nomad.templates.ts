import { PlatformError } from '../../contracts/errors.js';
import type { NomadTemplate } from './nomad.document.js';

/** Where the files of a job are put, below the directory of its task: on the clients that run as root, in memory. */
export const PAYLOAD_DIR = 'secrets/everdict';

/** Of the memory file system that holds them where a job asks for no more, and of a page of it. */
const SECRETS_BYTES = 1_048_576;
const PAGE_BYTES = 4_096;
/** For directories, and for what Nomad itself keeps there. */
const SLACK_PAGES = 16;

/** The character that no text of a person holds, so that a search for it almost always ends without a hit. */
const MARK = '\u0001';

/** Fatal, as a file that is not text could not be sent; and it keeps a byte order mark. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The files of a job, each as a template without an action: Nomad writes its text as it is. Delimiters are longer than
 * any run like them in the text, so that no text can be taken for an action.
 */
export const templatesOf = (payload: ReadonlyMap<string, Uint8Array>): NomadTemplate[] =>
  [...payload].map(([name, bytes]) => templateOf(name, decoder.decode(bytes)));

function templateOf(name: string, text: string): NomadTemplate {
  const length = longestRun(text) + 1;
  const [left, right] = [MARK + '<'.repeat(length), MARK + '>'.repeat(length)];
  return {
    // Nomad takes no template without text: a comment is one that prints nothing.
    EmbeddedTmpl: text === '' ? `${left}/**/${right}` : text,
    DestPath: `${PAYLOAD_DIR}/${name}`,
    ChangeMode: 'noop',
    Perms: '0644',
    LeftDelim: left,
    RightDelim: right,
  };
}

/** How many `<` follow a mark at most. */
function longestRun(text: string): number {
  let longest = 0;
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + 1)) {
    let end = at + 1;
    while (text[end] === '<') end += 1;
    longest = Math.max(longest, end - at - 1);
  }
  return longest;
}

/** What the files take, MB: of the task's directory for secrets, where that is a file system in memory. */
export function secretsMbOf(payload: ReadonlyMap<string, Uint8Array>): number {
  const pages = [...payload.values()].map(({ length }) => Math.ceil(length / PAGE_BYTES));
  const bytes = (pages.reduce((sum, each) => sum + each, 0) + SLACK_PAGES) * PAGE_BYTES;
  return Math.ceil(bytes / SECRETS_BYTES);
}

/** A Nomad that gives every job one megabyte cannot be asked for more. */
export function tooManyFiles(payload: ReadonlyMap<string, Uint8Array>): PlatformError {
  const message =
    `its ${payload.size} files take more than the 1 MB that Nomad before 1.10 has for the secrets of a task, where each ` +
    'file takes at least 4 KB: give the case fewer files, or one archive that a setup step unpacks';
  return new PlatformError('PAYLOAD_TOO_LARGE', message);
}
