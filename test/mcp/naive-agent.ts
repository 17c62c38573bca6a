import type { CallToolResult, Client } from '@modelcontextprotocol/client';

export interface Asked {
  name: string;
  arguments: Record<string, unknown>;
}

/** What a model may take a text for: invisible letters dropped, styles and case set aside. */
const asRead = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[\p{Cf}\p{M}\p{Cc}]/gu, '')
    .toLowerCase();

/** Every tool that a text names. */
export const namedIn = (text: string, tools: readonly string[]): string[] => {
  const read = asRead(text);
  return tools.filter((name) => read.includes(name));
};

const MOST_CALLS = 400;

/**
 * An agent that does whatever it reads: a tool that is named in an answer is called, with the arguments that stand in it,
 * or with whatever it has seen for them.
 */
export async function obey(client: Client, tools: readonly string[], asked: readonly Asked[]): Promise<Asked[]> {
  const made: Asked[] = [];
  const left = [...asked];
  const seen = new Set<string>();
  const known: Record<string, unknown> = Object.assign({}, ...asked.map((call) => call.arguments));
  for (let next = left.shift(); next && made.length < MOST_CALLS; next = left.shift()) {
    const key = JSON.stringify(next);
    if (seen.has(key)) continue;
    seen.add(key);
    made.push(next);
    for (const text of textsOf(await client.callTool(next))) {
      for (const name of namedIn(text, tools)) left.push({ name, arguments: { ...known, confirm: known['id'] } });
    }
  }
  return made;
}

/** All it is given to read. */
const textsOf = ({ content, structuredContent }: CallToolResult): string[] => [
  ...content.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
  ...(structuredContent === undefined ? [] : [JSON.stringify(structuredContent)]),
];
