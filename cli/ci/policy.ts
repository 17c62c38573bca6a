import { z } from 'zod';
import { GatePolicy, GateRules } from '../../contracts/gate.js';
import { readValue } from '../../contracts/read-value.js';
import { usageError } from '../failures.js';
import type { Session } from '../session.js';
import { jsonFile, parseJson, refPath } from '../spec-files.js';
import { type Patience, patiently } from './patience.js';

/** Rules of a gate, and how the platform is told of them: a registered policy by its name, others as they are. */
export interface Policy {
  asked: string | GateRules;
  rules: GateRules;
}

/** Without a policy every case must pass; against a baseline none may get worse. */
export const defaultRules = (hasBaseline: boolean): GateRules =>
  GateRules.parse(hasBaseline ? { maxRegressions: 0 } : { minPassRate: 1 });

const PolicyReply = z.looseObject({ id: z.string(), version: z.string() });

/** Whether a file of rules is meant, and not the name of a registered policy. */
export const isPolicyFile = (given: string): boolean => !isRules(given) && /\.json$|[/\\]/.test(given);

const isRules = (given: string): boolean => /^\s*\{/.test(given);

/** Of `given`: rules as JSON, a file of them (it ends with `.json` or has a slash), or the name of a registered policy. */
export async function askedPolicy(given: string): Promise<Policy['asked']> {
  if (isRules(given)) return rulesOfText(given, 'the policy');
  return isPolicyFile(given) ? rulesOfFile(given) : given;
}

/** The same, with the rules of what is registered: that version counts, whatever is registered while the cases run. */
export async function readPolicy(session: Session, patience: Patience, given: string): Promise<Policy> {
  const asked = await askedPolicy(given);
  if (typeof asked !== 'string') return { asked, rules: asked };
  const path = refPath('policies', given);
  const { reply, raw } = await patiently(session, patience, () => session.client.get(path, PolicyReply));
  return { asked: `${reply.id}@${reply.version}`, rules: rulesOf(raw, `policy ${given}`) };
}

async function rulesOfFile(file: string): Promise<GateRules> {
  const { bytes } = await jsonFile(file);
  return rulesOfText(Buffer.from(bytes).toString('utf8'), file);
}

function rulesOfText(text: string, what: string): GateRules {
  const value = parseJson(text, what);
  if (typeof value !== 'object') throw usageError(`${what} is no policy: it holds no object`);
  return rulesOf(value, what);
}

/** With or without the name and version of a policy that is to be registered. */
function rulesOf(value: unknown, what: string): GateRules {
  const isNamed = typeof value === 'object' && value !== null && 'id' in value;
  if (!isNamed) return parsed(GateRules, value, what);
  const {
    id: _id,
    version: _version,
    description: _description,
    tags: _tags,
    ...rules
  } = parsed(GatePolicy, value, what);
  return rules;
}

function parsed<Value>(schema: z.ZodType<Value>, value: unknown, what: string): Value {
  const read = readValue(schema, value);
  if ('data' in read) return read.data;
  const faults = read.faults.map(({ path, message }) => (path ? `\`${path}\` ${message}` : message));
  throw usageError(`${what} is no policy: ${faults.join('; ')}`, 'see `npx everdict ci --help`, or docs/reference.md');
}

/** Whether the rules speak of regressions, which takes something to compare with. */
export const needsBaseline = ({ maxRegressions, perTag = {} }: GateRules): boolean =>
  maxRegressions !== undefined || Object.values(perTag).some((rule) => rule.maxRegressions !== undefined);
