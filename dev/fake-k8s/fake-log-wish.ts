import type { LogWish } from './fake-log-read.js';
import { type Answer, failure } from './status.js';

export interface LogQuestion extends LogWish {
  container?: string;
  isPrevious: boolean;
}

/** What is asked of a log, or why it cannot be asked so. */
export function logQuestion(pod: string, query: URLSearchParams): LogQuestion | Answer {
  const numbers = new Map<string, number>();
  for (const name of ['sinceSeconds', 'tailLines', 'limitBytes']) {
    const text = query.get(name);
    if (text === null) continue;
    if (!/^[+-]?\d+$/.test(text))
      return badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
    numbers.set(name, Number(text));
  }
  const sinceTime = query.get('sinceTime');
  if (sinceTime !== null && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(sinceTime)) {
    const text = JSON.stringify(sinceTime);
    return badRequest(`parsing time ${text} as "2006-01-02T15:04:05Z07:00": cannot parse ${text} as "2006"`);
  }
  const refused = refusalOf(pod, query, numbers);
  if (refused) return refused;
  const since = sinceOf(sinceTime, numbers.get('sinceSeconds'));
  const tail = numbers.get('tailLines');
  const limitBytes = numbers.get('limitBytes');
  const container = query.get('container');
  return {
    ...(container && { container }),
    ...(since !== undefined && { since }),
    ...(tail !== undefined && { tail }),
    ...(limitBytes !== undefined && { limitBytes }),
    ...{
      isPrevious: isYes(query, 'previous'),
      isFollowed: isYes(query, 'follow'),
      hasTimes: isYes(query, 'timestamps'),
    },
  };
}

function refusalOf(pod: string, query: URLSearchParams, numbers: ReadonlyMap<string, number>): Answer | undefined {
  const [sinceSeconds, tailLines, limitBytes] = [...['sinceSeconds', 'tailLines', 'limitBytes']].map((name) =>
    numbers.get(name),
  );
  const tooSmall = (field: string, value: number, least: string) =>
    invalid(pod, field, 'FieldValueInvalid', `Invalid value: ${value}: must be greater than ${least}`);
  if (query.has('stream')) return invalid(pod, 'stream', 'FieldValueForbidden', 'Forbidden: may not be specified');
  if (tailLines !== undefined && tailLines < 0) return tooSmall('tailLines', tailLines, 'or equal to 0');
  if (limitBytes !== undefined && limitBytes < 1) return tooSmall('limitBytes', limitBytes, '0');
  if (sinceSeconds !== undefined && query.has('sinceTime')) {
    const text = 'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified';
    return invalid(pod, '[]', 'FieldValueForbidden', text);
  }
  if (sinceSeconds !== undefined && sinceSeconds < 1) return tooSmall('sinceSeconds', sinceSeconds, '0');
  return undefined;
}

/** Times are handed on to the node in whole seconds. */
function sinceOf(time: string | null, seconds: number | undefined): string | undefined {
  if (time !== null) return new Date(time).toISOString().slice(0, 19);
  if (seconds !== undefined) return new Date(Date.now() - seconds * 1_000).toISOString().replace('Z', '');
  return undefined;
}

/** Everything but these is yes. */
function isYes(query: URLSearchParams, name: string): boolean {
  const word = query.get(name);
  return word !== null && word !== '' && word !== '0' && word.toLowerCase() !== 'false';
}

const badRequest = (message: string): Answer => failure(400, 'BadRequest', message);

function invalid(name: string, field: string, reason: string, message: string): Answer {
  const details = { name, kind: 'PodLogOptions', causes: [{ reason, message, field }] };
  return failure(422, 'Invalid', `PodLogOptions ${JSON.stringify(name)} is invalid: ${field}: ${message}`, details);
}
