import { open, rename, rm } from 'node:fs/promises';
import { TextDecoder } from 'node:util';
import { type Command, Option } from 'commander';
import { EXIT } from './exit-codes.js';
import { CliError, usageError } from './failures.js';
import { codeOf, messageOf } from './foreign-errors.js';
import { optionsOf, withExamples } from './options.js';
import { pathOf } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { plainLines } from './text.js';

interface ExportOptions {
  format: 'jsonl' | 'csv';
  answers?: boolean;
  output?: string;
}

export function addScorecardExport(group: Command, terminal: Terminal): void {
  const command = group
    .command('export <id>')
    .description('all results of a scorecard, as JSONL or CSV')
    .addOption(new Option('--format <format>', 'how they are written').choices(['jsonl', 'csv']).default('jsonl'))
    .option('--answers', 'with what each run answered')
    .option('-o, --output <file>', 'into this file, which is there once it is whole (default: stdout)')
    .action(async (id: string, _options, self: Command) => {
      const { format, answers, output, ...options } = optionsOf<ExportOptions>(self);
      const session = new Session(terminal, options);
      const interrupt = new AbortController();
      const restore = terminal.onInterrupt(() => interrupt.abort());
      const query = { format, ...(answers && { answers: 'true' }) };
      const bytes = session.client.stream(pathOf(id, '/export'), { query }, interrupt.signal);
      try {
        if (output === undefined || output === '-') await print(session, bytes);
        else await save(session, id, bytes, output);
      } catch (error) {
        if (!interrupt.signal.aborted) throw error;
        throw new CliError(EXIT.interrupted, 'stopped; nothing was written under the name that was given');
      } finally {
        restore();
      }
    });
  withExamples(command, ['scorecard export sc_01k5q8zj3v0000000000000000 --format csv -o results.csv']);
}

async function print(session: Session, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  if (session.isJson)
    throw usageError('an export is no single JSON document', 'give a file with -o, or leave out --json');
  const { out } = session.terminal;
  const decoder = new TextDecoder();
  for await (const piece of bytes) {
    if (out.isTty) out.write(plainLines(decoder.decode(piece, { stream: true })));
    else await out.writeBytes(piece);
  }
}

/** Under another name beside it until it is whole: nobody finds a part under the name that was given. */
async function save(session: Session, id: string, bytes: AsyncIterable<Uint8Array>, file: string): Promise<void> {
  const part = `${file}.${process.pid}.part`;
  let size = 0;
  try {
    const handle = await open(part, 'wx');
    try {
      for await (const piece of bytes) {
        await handle.writeFile(piece);
        size += piece.length;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(part, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') await rm(part, { force: true });
    throw error instanceof CliError ? error : usageError(`${file} cannot be written: ${messageOf(error)}`);
  }
  session.answer({ scorecard: id, file, bytes: size }, () => `${id} is in ${file} (${size} bytes)\n`);
}
