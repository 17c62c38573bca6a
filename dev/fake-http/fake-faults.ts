import { setTimeout as after } from 'node:timers/promises';
import { type Answer, encoded } from './fake-answer.js';
import { type Draw, drawsFrom } from './fake-draws.js';

export type Fault =
  /** In place of the answer: nothing is done. */
  | Answer
  /** The usual answer, so many ms later. */
  | { slowMs: number }
  /** Done, but its connection is cut before the answer. */
  | 'dropped'
  /** The body breaks off in the middle, and its connection with it. */
  | 'truncated'
  /** The body ends in the middle, as if that were all. */
  | 'short'
  /** Done, and answered 200 with what is no JSON. */
  | 'garbled';

export interface FaultRule {
  method?: string;
  path: string | RegExp;
  fault: Fault;
  /** How many requests it meets; all of them if absent. */
  times?: number;
  /** How many requests it lets pass first. */
  after?: number;
  /** Of meeting a request, up to 1, drawn from the seed. */
  probability?: number;
}

interface Request {
  method: string;
  path: string;
}

interface Live extends FaultRule {
  left: number;
  passing: number;
}

/** What goes wrong, and when. The first rule that meets a request decides; the same seed makes the same choices. */
export class FaultScript {
  private rules: Live[] = [];
  private readonly draw: Draw;

  constructor(seed = 1) {
    this.draw = drawsFrom(seed);
  }

  add(rule: FaultRule): void {
    this.rules.push({ ...rule, left: rule.times ?? Number.POSITIVE_INFINITY, passing: rule.after ?? 0 });
  }

  clear(): void {
    this.rules = [];
  }

  /** What is answered where `answer` is what would be, and is called only by a fault that needs it. */
  async answer(request: Request, answer: () => Answer | Promise<Answer>): Promise<Answer> {
    const fault = this.next(request);
    if (fault === undefined) return answer();
    if (fault === 'dropped') {
      await answer();
      return 'reset';
    }
    if (fault === 'garbled') {
      await answer();
      return { status: 200, body: '{"Index":12,"Kno', headers: { 'content-type': 'application/json' } };
    }
    if (fault === 'truncated' || fault === 'short') return half(await answer(), fault);
    if (typeof fault === 'object' && 'slowMs' in fault) {
      await after(fault.slowMs);
      return answer();
    }
    return fault;
  }

  private next({ method, path }: Request): Fault | undefined {
    for (const rule of this.rules) {
      const isMeant = typeof rule.path === 'string' ? rule.path === path : rule.path.test(path);
      if (!isMeant || rule.left === 0 || (rule.method !== undefined && rule.method !== method)) continue;
      if (rule.passing > 0) {
        rule.passing -= 1;
        continue;
      }
      if (rule.probability !== undefined && this.draw() >= rule.probability) continue;
      rule.left -= 1;
      return rule.fault;
    }
    return undefined;
  }
}

/** The first half of a body, or of the first piece of one that comes in pieces. */
function half(answer: Answer, end: 'truncated' | 'short'): Answer {
  if (typeof answer === 'string') return answer;
  const { status } = answer;
  if ('stream' in answer) {
    return {
      ...answer,
      async *stream(gone) {
        for await (const piece of answer.stream(gone)) {
          yield* firstHalf(piece, end);
          return;
        }
      },
    };
  }
  const { text, headers } = encoded(answer);
  const bytes = Buffer.from(text);
  const length: Record<string, string> = end === 'truncated' ? { 'content-length': String(bytes.length) } : {};
  return {
    status,
    headers: { ...headers, ...length },
    async *stream() {
      yield* firstHalf(bytes, end);
    },
  };
}

function* firstHalf(bytes: Buffer, end: 'truncated' | 'short'): Generator<Buffer> {
  yield bytes.subarray(0, bytes.length >> 1);
  if (end === 'truncated') throw new Error('cut');
}
