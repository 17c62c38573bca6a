import { z } from 'zod';
import type { Usage } from '../policy/case-result.js';
import type { JobRecord } from '../policy/record.js';
import { usageOf } from '../policy/usage.js';
import { storableJson } from './storable.js';

const Hex = z.string().transform((text): Uint8Array => Buffer.from(text, 'hex'));

/** A record as it is stored: bytes in hex, and the answer in a column of its own. */
const StoredRecord = z.object({
  status: z.int().nullable(),
  timer: z.enum(['none', 'setup', 'command']),
  setupFailed: z.object({ index: z.int(), status: z.int() }).optional(),
  toolMissing: z.string().optional(),
  setupMs: z.int(),
  commandMs: z.int(),
  answerFrom: z.enum(['file', 'stdout']),
  answerCut: z.boolean(),
  answerBytes: z.int().optional(),
  usage: Hex.optional(),
  usageCut: z.boolean().optional(),
  isLost: z.boolean().optional(),
  graders: z.array(z.object({ index: z.int(), status: z.int(), timedOut: z.boolean(), ms: z.int(), output: Hex })),
  leftovers: z.int(),
  isUnparsable: z.boolean().optional(),
});

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

export function encodeRecord({ answer, usage, graders, ...rest }: JobRecord): { json: string; answer: Buffer } {
  const json = storableJson({
    ...rest,
    ...(usage && { usage: hex(usage) }),
    graders: graders.map((grader) => ({ ...grader, output: hex(grader.output) })),
  });
  return { json, answer: Buffer.from(answer) };
}

export function decodeRecord(stored: unknown, answer: Buffer | null): JobRecord | undefined {
  if (stored === null) return undefined;
  return { ...StoredRecord.parse(stored), answer: answer ?? Buffer.alloc(0) };
}

/** The numbers of a usage file as it is stored, in hex; it is JSON by agreement only. */
export function storedUsage(hex: string | null): Usage {
  if (hex === null) return {};
  try {
    return usageOf(JSON.parse(Buffer.from(hex, 'hex').toString('utf8')));
  } catch {
    return {};
  }
}
