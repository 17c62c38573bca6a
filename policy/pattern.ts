import { RE2JS } from 're2js';

/** Matching costs instructions × characters: so many keep a full answer below seconds. */
const MOST_INSTRUCTIONS = 1_500;

type Compiled = { pattern: RE2JS } | { fault: string };

function compile(source: string): Compiled {
  try {
    const pattern = RE2JS.compile(source);
    const size = pattern.programSize();
    if (size <= MOST_INSTRUCTIONS) return { pattern };
    return {
      fault: `compiles to ${size} instructions, more than the allowed ${MOST_INSTRUCTIONS}: repeat less, or use *`,
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unknown fault';
    return { fault: `does not compile: ${reason}` };
  }
}

/** Why a pattern cannot be used, in the syntax of RE2 (no backreferences, no lookaround). */
export function compileFault(pattern: string): string | undefined {
  const compiled = compile(pattern);
  return 'fault' in compiled ? compiled.fault : undefined;
}

/** Where the first match in a text ends, in linear time. */
export function search(source: string, text: string): { end: number } | { fault: string } | undefined {
  const compiled = compile(source);
  if ('fault' in compiled) return compiled;
  const matcher = compiled.pattern.matcher(text);
  return matcher.find() ? { end: matcher.end() } : undefined;
}
