import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Client } from '@temporalio/client';
import type { E2ePlatform } from './platform.js';

/** How a value may stand in bytes: as it is, in hex, and in base64 wherever it begins there; and each of these in hex. */
function formsOf(value: string): Buffer[] {
  const bytes = Buffer.from(value);
  const cores = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return encoded.slice(before === 0 ? 0 : before + 1, encoded.length - 1);
  });
  const forms = [value, bytes.toString('hex'), bytes.toString('hex').toUpperCase(), ...cores];
  return [...forms, ...forms.map((form) => Buffer.from(form).toString('hex'))].map((form) => Buffer.from(form));
}

/** Names of the canaries that are in these bytes, in any form. */
export function canariesIn(bytes: Buffer, canaries: Readonly<Record<string, string>>): string[] {
  return Object.entries(canaries).flatMap(([name, value]) =>
    formsOf(value).some((form) => bytes.includes(form)) ? [name] : [],
  );
}

/** Files below a directory that hold a canary: `file: names`, by relative path. What is gone meanwhile holds none. */
export function canariesBelow(dir: string, canaries: Readonly<Record<string, string>>): string[] {
  return filesBelow(dir).flatMap((file) => {
    const found = canariesIn(ifThere(() => readFileSync(file)) ?? Buffer.alloc(0), canaries);
    return found.length > 0 ? [`${path.relative(dir, file)}: ${found.join(', ')}`] : [];
  });
}

function filesBelow(dir: string): string[] {
  const entries = ifThere(() => readdirSync(dir, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const at = path.join(dir, entry.name);
    if (entry.isDirectory()) return filesBelow(at);
    return entry.isFile() ? [at] : [];
  });
}

function ifThere<Found>(read: () => Found): Found | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Every table, as text; bytes are in hex there. */
export async function everyRow(platform: E2ePlatform): Promise<Map<string, Buffer>> {
  const tables = await platform.sql<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const texts = new Map<string, Buffer>();
  for (const { name } of tables) {
    const rows = await platform.sql<{ text: string }>(`SELECT t::text AS text FROM "${name}" t`);
    texts.set(name, Buffer.from(rows.map(({ text }) => text).join('\n')));
  }
  return texts;
}

/** Every history with its payloads as they are, and what Temporal shows of each workflow beside it. */
export async function everyHistory({ workflow }: Client): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const { workflowId, runId, raw } of workflow.list()) {
    const history = await workflow.getHandle(workflowId, runId).fetchHistory();
    collect([history, raw], parts);
  }
  return Buffer.concat(parts);
}

function collect(value: unknown, parts: Buffer[]): void {
  if (value instanceof Uint8Array) parts.push(Buffer.from(value));
  else if (typeof value === 'string') parts.push(Buffer.from(value));
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      parts.push(Buffer.from(key));
      collect(inner, parts);
    }
  }
}
