import type { Command } from 'commander';
import { z } from 'zod';
import { type Amounts, InspectionReport, ProbeReport } from '../contracts/inspection.js';
import { EXIT } from './exit-codes.js';
import { CliError } from './failures.js';
import type { Call } from './http.client.js';
import { optionsOf, withExamples } from './options.js';
import { Session, type Terminal } from './session.js';
import { jsonFile, readUserFile, refPath } from './spec-files.js';
import { plain, table } from './text.js';

const ProbeReply = z.object(ProbeReport.shape);
type ProbeReply = z.infer<typeof ProbeReply>;
const InspectionReply = z.object(InspectionReport.shape);
type InspectionReply = z.infer<typeof InspectionReply>;
const ValidationReply = z.object({
  ok: z.boolean(),
  id: z.string().optional(),
  version: z.string().optional(),
  kind: z.string().optional(),
  existingVersions: z.array(z.string()).default([]),
  versionExists: z.boolean().default(false),
  warnings: z.array(z.string()).default([]),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).default([]),
});
type ValidationReply = z.infer<typeof ValidationReply>;

/** The names of facts, the longest of which is `of them ours`, and what parts them from their values. */
const BESIDE_FACTS = 14;

/** `runtime validate`, `probe` and `inspect`: looks at a runtime before and after it is registered. */
export function addRuntimeChecks(group: Command, terminal: Terminal): void {
  const validate = group
    .command('validate <file>')
    .description('say whether a runtime could be registered, without asking its cluster; - reads stdin')
    .action(async (file: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const body = { type: 'application/json', bytes: await readUserFile(file) };
      const { reply, raw } = await session.client.post('/runtimes/validate', ValidationReply, { body });
      for (const warning of reply.warnings) session.note(`note: ${plain(warning)}`);
      if (!reply.ok) terminal.setExitCode(EXIT.failed);
      session.answer(raw, () => validationText(reply));
    });
  withExamples(validate, ['runtime validate rack.json', 'runtime validate - --json < rack.json']);
  group
    .command('probe <file>')
    .description('say whether the cluster that a file describes answers and accepts us; - reads stdin')
    .addHelpText('after', '\nOf a runtime that is registered, `everdict runtime inspect <ref>` says so.')
    .action(async (file: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await probe(session, await jsonFile(file));
      if (!reply.reachable) terminal.setExitCode(EXIT.failed);
      session.answer(raw, () => `${probeText(reply)}\n`);
    });
  group
    .command('inspect <ref>')
    .description('show what the cluster of a registered runtime has, and what of it is in use: id, or id@version')
    .action(async (ref: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.get(`${refPath('runtimes', ref)}/inspect`, InspectionReply);
      for (const warning of reply.warnings) session.note(`note: ${plain(warning)}`);
      session.answer(raw, () => inspectionText(reply, session.columns));
    });
}

/** The header that lets nothing in but the spec whose cluster has just answered. */
export async function checkHeader(session: Session, body: Call['body']): Promise<Record<string, string>> {
  const { reply } = await probe(session, body);
  session.note(probeText(reply));
  if (reply.checkToken) return { 'x-everdict-check': reply.checkToken };
  throw new CliError(EXIT.failed, 'nothing is registered, since the cluster is of no use as it is described');
}

const probe = (session: Session, body: Call['body']) => session.client.post('/runtimes/probe', ProbeReply, { body });

function probeText({ kind, reachable, detail, reason, latencyMs }: ProbeReply): string {
  const failed = reason === 'unreachable' ? 'is not reachable' : `cannot be used (${reason})`;
  return plain(`${kind} ${reachable ? 'is reachable' : failed}: ${detail} (${latencyMs} ms)`);
}

function validationText({ ok, errors, ...reply }: ValidationReply): string {
  if (!ok) {
    const faults = errors.map(({ path, message }) => `  ${plain(path ? `${path}: ${message}` : message)}\n`);
    return `it cannot be registered:\n${faults.join('')}`;
  }
  const { kind, id, version, versionExists, existingVersions } = reply;
  const name = `runtime ${id}@${version} (${kind})`;
  if (versionExists) return plain(`${name} is valid; that version is registered already`).concat('\n');
  const known = existingVersions.length > 0 ? `; ${id} has ${existingVersions.slice(0, 5).join(', ')}` : '';
  return plain(`${name} can be registered${known}`).concat('\n');
}

function inspectionText(reply: InspectionReply, columns: number): string {
  const { id, version, cluster, nodes, nodeCount, namespace, datacenters, permissions, running, capacity } = reply;
  const facts: [string, string | undefined][] = [
    ['cluster', cluster],
    ['namespace', namespace && `${namespace.name}${namespace.exists ? '' : ' (not there)'}`],
    ['datacenters', datacenters?.join(', ')],
    ['capacity', capacity && amounts(capacity)],
    ['in use', reply.allocated && amounts(reply.allocated)],
    ['running', running?.toString()],
    ['of them ours', reply.ours?.toString()],
  ];
  const may = permissions?.flatMap(({ action, allowed }) => (allowed ? [action] : [])) ?? [];
  const rows = [
    ...facts.flatMap(([name, value]) => (value ? [[name, value]] : [])),
    ...wrapped(may, columns - BESIDE_FACTS).map((line, at) => [at === 0 ? 'may' : '', line]),
  ];
  const head = table([{ title: 'runtime' }, { title: `${id}@${version}` }], rows, columns);
  if (!nodes || nodes.length === 0) return head;
  const heads = ['node', 'status', 'takes jobs', 'capacity', 'in use', 'running', 'drivers'];
  const cells = nodes.map((node) => [
    node.name,
    node.status,
    node.schedulable ? 'yes' : 'no',
    amounts(node.capacity),
    node.allocated ? amounts(node.allocated) : '',
    node.running?.toString() ?? '',
    node.drivers?.join(', ') ?? '',
  ]);
  const rest = nodeCount === undefined ? '' : `… of ${nodeCount} nodes\n`;
  const told = heads.map((_title, at) => cells.some((row) => row[at] !== ''));
  const titles = heads.filter((_title, at) => told[at]).map((title) => ({ title }));
  const lines = cells.map((row) => row.filter((_cell, at) => told[at]));
  return `${head}\n${table(titles, lines, columns)}${rest}`;
}

/** A list in as many lines as it takes. */
function wrapped(items: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const [at, item] of items.entries()) {
    const text = at < items.length - 1 ? `${item},` : item;
    const longer = `${lines.at(-1)} ${text}`;
    if (at > 0 && longer.length <= columns) lines[lines.length - 1] = longer;
    else lines.push(text);
  }
  return lines;
}

function amounts({ cpuMhz, cpuMillicores, memoryMb, gpus }: Amounts): string {
  const parts = [
    cpuMhz === undefined ? '' : `${Math.round(cpuMhz)} MHz`,
    cpuMillicores === undefined ? '' : `${Math.round(cpuMillicores) / 1_000} cores`,
    memoryMb === undefined ? '' : `${Math.round(memoryMb)} MB`,
    gpus === undefined ? '' : `${gpus} GPUs`,
  ];
  return parts.filter(Boolean).join(', ') || 'nothing';
}
