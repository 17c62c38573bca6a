import type { Command } from 'commander';
import { addDatasetCases } from './dataset-cases.command.js';
import { streamedFile } from './file-upload.js';
import type { Call } from './http.client.js';
import { listOptions, optionsOf } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { addRuntimeChecks, checkHeader } from './runtime-checks.command.js';
import { addRuntimeDial } from './runtime-dial.commands.js';
import { Session, type Terminal } from './session.js';
import { DEFAULT_VERSION, idFromFile, isJsonLines, jsonFile, refPath } from './spec-files.js';
import { type Column, plain, table } from './text.js';
import { addVersionCommands, noteStanding, Registered, STANDING, standingCells } from './version.commands.js';

interface Resource {
  noun: 'runtime' | 'dataset' | 'harness';
  plural: string;
  about: string;
  verbs: string;
  /** Columns after id and version. */
  columns: readonly Column[];
  cells(item: Registered): string[];
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value));

const RESOURCES: readonly Resource[] = [
  {
    noun: 'runtime',
    plural: 'runtimes',
    about: 'where cases run',
    verbs:
      'validate, probe, add, list, show, inspect, tag, confirm, deprecate, restore, pause, drain, limit, resume, admission',
    columns: [{ title: 'kind' }, { title: 'slots', align: 'right' }, { title: 'description' }],
    cells: ({ kind, maxConcurrent, description }) => [kind, maxConcurrent, description].map(textOf),
  },
  {
    noun: 'dataset',
    plural: 'datasets',
    about: 'the cases',
    verbs: 'add, list, show, tag, confirm, deprecate, restore, cases, download',
    columns: [{ title: 'cases', align: 'right' }, { title: 'description' }],
    cells: ({ caseCount, description }) => [caseCount, description].map(textOf),
  },
  {
    noun: 'harness',
    plural: 'harnesses',
    about: 'the program under test',
    verbs: 'add, list, show, tag, confirm, deprecate, restore',
    columns: [{ title: 'kind' }, { title: 'model' }, { title: 'description' }],
    cells: ({ kind, model, description }) => [kind, model, description].map(textOf),
  },
];

/** What there is to do with everything that is registered. */
export function addRegistryCommands(program: Command, terminal: Terminal): void {
  for (const resource of RESOURCES) {
    const group = program.command(resource.noun).description(`${resource.about}: ${resource.verbs}`);
    if (resource.noun === 'dataset') addDatasetAdd(group, resource, terminal);
    else addAdd(group, resource, terminal);
    addList(group, resource, terminal);
    addShow(group, resource, terminal);
    addVersionCommands(group, resource, terminal);
    if (resource.noun === 'runtime') addRuntimeChecks(group, terminal);
    if (resource.noun === 'runtime') addRuntimeDial(group, terminal);
    if (resource.noun !== 'dataset') continue;
    addDatasetCases(group, terminal);
    addDownload(group, terminal);
  }
}

function addAdd(group: Command, resource: Resource, terminal: Terminal): void {
  const add = group
    .command('add <file>')
    .alias('register')
    .description(`register a ${resource.noun} from a JSON file; the same content again changes nothing`)
    .action(async (file: string, _options, command: Command) => {
      const options = optionsOf<{ probe?: boolean }>(command);
      const session = new Session(terminal, options);
      const body = await jsonFile(file);
      await register(session, resource, body, { headers: options.probe ? await checkHeader(session, body) : {} });
    });
  if (resource.noun === 'runtime')
    add.option('--probe', 'ask its cluster first, and register it only if that accepts us');
}

interface DatasetOptions {
  id?: string;
  // `--version` of the dataset.
  version?: string;
  description?: string;
}

function addDatasetAdd(group: Command, resource: Resource, terminal: Terminal): void {
  group
    .command('add <file>')
    .description('register a dataset: a .jsonl file with one case a line, or a .json file with head and cases')
    .option('--id <id>', 'id of a .jsonl dataset (default: from the file name)')
    .option('--version <version>', `version of a .jsonl dataset (default: ${DEFAULT_VERSION})`)
    .option('--description <text>', 'what it is, for a .jsonl dataset')
    .action(async (file: string, _options, command: Command) => {
      const options = optionsOf<DatasetOptions>(command);
      const session = new Session(terminal, options);
      if (!isJsonLines(file)) return register(session, resource, await jsonFile(file));
      const { id = idFromFile(file), version = DEFAULT_VERSION, description } = options;
      if (!options.id || !options.version) {
        session.note(`note: registering it as ${id}@${version}; choose with --id and --version`);
      }
      await register(session, resource, await streamedFile(file, terminal), {
        query: { id, version, description },
      });
    });
}

async function register(
  session: Session,
  { noun, plural, columns, cells }: Resource,
  body: Call['body'],
  call: Pick<Call, 'query' | 'headers'> = {},
): Promise<void> {
  const { reply, raw, headers } = await session.client.post(`/${plural}`, Registered, { body, ...call });
  const warning = headers.get('x-everdict-warning');
  if (warning) session.note(`note: ${plain(warning)}`);
  const facts = columns.flatMap(({ title }, at) => {
    const cell = cells(reply)[at];
    return cell && title !== 'description' ? [`${title} ${cell}`] : [];
  });
  const tail = facts.length > 0 ? ` (${facts.join(', ')})` : '';
  session.answer(raw, () => plain(`${noun} ${reply.id}@${reply.version} is registered${tail}`).concat('\n'));
}

interface ListOptions extends ListQuery {
  id?: string;
  tag?: string;
}

function addList(group: Command, { plural, columns, cells }: Resource, terminal: Terminal): void {
  listOptions(group.command('list'))
    .description(`list registered ${plural}, the shared ones too`)
    .option('--id <id>', 'only the versions of this id')
    .option('--tag <tag>', 'only versions that have the tag')
    .action(async (_options, command: Command) => {
      const { id, tag, ...options } = optionsOf<ListOptions>(command);
      const session = new Session(terminal, options);
      const listing = await list(session, `/${plural}`, Registered, options, { id, tag });
      const heads = [{ title: 'id' }, { title: 'version' }, ...STANDING, ...columns];
      const rows = listing.items.map((item) => [item.id, item.version, ...standingCells(item), ...cells(item)]);
      const none = id === undefined && tag === undefined ? `no ${plural} yet\n` : `no ${plural} like that\n`;
      session.answer({ items: listing.raw, next: listing.next }, () =>
        rows.length > 0 ? table(heads, rows, session.columns) + moreOf(listing) : none,
      );
    });
}

function addShow(group: Command, { noun, plural }: Resource, terminal: Terminal): void {
  group
    .command('show <ref>')
    .description(`show one ${noun}: id, or id@version; without a version the latest`)
    .action(async (ref: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.get(refPath(plural, ref), Registered);
      session.answer(raw, () => `${JSON.stringify(raw, null, 2)}\n`);
      if (!session.isJson) await noteStanding(session, plural, reply);
    });
}

function addDownload(group: Command, terminal: Terminal): void {
  group
    .command('download <ref>')
    .description('print the cases of a dataset, one a line: `dataset download tasks > tasks.jsonl`')
    .action(async (ref: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const lines = session.client.stream(`${refPath('datasets', ref)}/cases.jsonl`);
      for await (const bytes of lines) await terminal.out.writeBytes(bytes);
    });
}
