import type { Command } from 'commander';
import { z } from 'zod';
import { usageError } from './failures.js';
import { type Call, jsonBody } from './http.client.js';
import { optionsOf } from './options.js';
import { Session, type Terminal } from './session.js';
import { refPath } from './spec-files.js';
import { type Column, plain } from './text.js';
import { pageOf } from './wire.js';

/** A registered version, as a list or a change of it shows it; what was only read has no standing. */
export const Registered = z.looseObject({
  id: z.string(),
  version: z.string(),
  tags: z.array(z.string()).default([]),
  owner: z.string().optional(),
  latest: z.boolean().optional(),
  confirmed: z.boolean().optional(),
  deprecated: z.boolean().optional(),
  deprecatedReason: z.string().nullish(),
  registeredBy: z.string().optional(),
});
export type Registered = z.infer<typeof Registered>;

interface Resource {
  noun: string;
  plural: string;
}

/** Columns of what is said of a version. */
export const STANDING: readonly Column[] = [{ title: 'owner' }, { title: 'standing' }, { title: 'tags', max: 30 }];

const standingOf = ({ latest, confirmed, deprecated }: Registered): string =>
  [latest && 'latest', confirmed === false && 'unconfirmed', deprecated && 'deprecated'].filter(Boolean).join(' ');

export const standingCells = (item: Registered): string[] => [item.owner ?? '', standingOf(item), item.tags.join(', ')];

/** Says beside the content of a version what its reader has to know of it. */
export async function noteStanding(session: Session, plural: string, { id, version }: Registered): Promise<void> {
  const { reply } = await session.client.get(`/${plural}`, pageOf(Registered), { query: { id, limit: 500 } });
  const found = reply.items.find((item) => item.version === version);
  if (found) session.note(plain(sentenceOf(found)));
}

function sentenceOf(item: Registered): string {
  const { id, version, owner, latest, confirmed, deprecated, deprecatedReason, registeredBy, tags } = item;
  const facts = [
    `${id}@${version} of ${owner}`,
    ...(latest ? ['the latest'] : []),
    ...(confirmed === false ? [`unconfirmed, registered by ${registeredBy}`] : []),
    ...(deprecated ? [`deprecated${deprecatedReason ? ` (${deprecatedReason})` : ''}`] : []),
    ...(tags.length > 0 ? [`tagged ${tags.join(', ')}`] : []),
  ];
  return facts.join('; ');
}

/** What is said of a version: it is tagged, confirmed, deprecated and restored. */
export function addVersionCommands(group: Command, resource: Resource, terminal: Terminal): void {
  const { noun } = resource;
  group
    .command('tag <ref> [tags...]')
    .description(`replace the tags of a version of a ${noun}; without any they are cleared`)
    .action((ref: string, tags: string[], _options, command: Command) =>
      change(new Session(terminal, optionsOf(command)), resource, ref, 'tags', { tags }),
    );
  group
    .command('confirm <ref>')
    .description('let a version be used that somebody registered who may not run it')
    .action((ref: string, _options, command: Command) =>
      change(new Session(terminal, optionsOf(command)), resource, ref, 'confirm'),
    );
  group
    .command('deprecate <ref>')
    .description('keep a version from being the latest; who names it may still use it')
    .option('--reason <text>', 'why, or what to use instead')
    .action((ref: string, _options, command: Command) => {
      const { reason, ...options } = optionsOf<{ reason?: string }>(command);
      return change(new Session(terminal, options), resource, ref, 'deprecate', { reason });
    });
  group
    .command('restore <ref>')
    .description('take a deprecation back')
    .action((ref: string, _options, command: Command) =>
      change(new Session(terminal, optionsOf(command)), resource, ref, 'restore'),
    );
}

async function change(
  session: Session,
  { noun, plural }: Resource,
  ref: string,
  what: 'tags' | 'confirm' | 'deprecate' | 'restore',
  body?: object,
): Promise<void> {
  if (!ref.includes('@')) throw usageError(`which version of ${ref}?`, `write ${ref}@<version>`);
  const path = `${refPath(plural, ref)}/${what}`;
  const call: Call = body ? { body: jsonBody(body) } : {};
  const { reply, raw } = await (what === 'tags'
    ? session.client.put(path, Registered, call)
    : session.client.post(path, Registered, call));
  session.answer(raw, () => plain(`${noun} ${sentenceOf(reply)}`).concat('\n'));
}
