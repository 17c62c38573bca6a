import type { Readable } from 'node:stream';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { cutTo, seen } from '../../policy/untrusted-text.js';
import { Problem } from '../common/problem.js';
import { nextCalls } from './next-calls.js';
import { TextShower, type WithoutNames } from './shown-text.js';
import { TextAnswer, type ToolOfRoute } from './tool-list.js';
import type { View } from './tool-request.js';
import { wrapped } from './wrap.js';

const Members = z.record(z.string(), z.unknown());
/** Characters of what a refusal says. */
const DETAIL_LIMIT = 2_000;
/** Codes of refusals that quote one. */
const OF_A_CLUSTER = 'CLUSTER_';

/** Says what a request came to as the result of a tool. */
export class ToolAnswers {
  constructor(private readonly withoutNames: WithoutNames) {}

  /** `warnings`: what the answer said beside its body. */
  json(tool: ToolOfRoute, body: unknown, { includeContent, contentLimit }: View, warnings?: string): CallToolResult {
    const shower = new TextShower(this.withoutNames, includeContent || tool.info.isContent ? contentLimit : undefined);
    const structuredContent = tool.answer && Members.parse(wrapped(tool.answer, body, shower));
    const text = structuredContent ? JSON.stringify(structuredContent) : 'done';
    const beside = warnings ? [`Warning: ${this.withoutNames.ours(seen(warnings))}`] : [];
    return {
      content: [text, ...beside].map((said) => ({ type: 'text', text: said })),
      ...(structuredContent && { structuredContent }),
    };
  }

  /** An end of a text that may be long, which is held no longer than it is asked for. */
  async text(stream: Readable, { part, maxBytes }: View): Promise<CallToolResult> {
    const { bytes, kept } = await endOf(stream, part, maxBytes);
    const shower = new TextShower(this.withoutNames, maxBytes);
    const shown = shower.show('job', new TextDecoder().decode(kept));
    if (bytes > kept.length) shown.untrusted.cut = true;
    const structuredContent = { bytes, part, text: shown } satisfies Record<keyof z.infer<typeof TextAnswer>, unknown>;
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  }

  /** To a connection that has these `tools`. No structured content: that is what the tool answers, and clients hold a refusal against its schema, too. */
  refused(tool: ToolOfRoute, problem: Problem, tools: ReadonlyMap<string, ToolOfRoute>): CallToolResult {
    const { status, code, detail, errors, requestId } = problem;
    const refusal = {
      code,
      status,
      /** Holds what was sent, or what a cluster said. */
      detail: code.startsWith(OF_A_CLUSTER) ? this.shower().show('cluster', detail) : this.said(detail),
      errors: errors.map(({ path, message }) => ({ path: this.said(path), message: this.said(message) })),
      requestId,
      next: nextCalls(code, tool, tools),
    };
    return { isError: true, content: [{ type: 'text', text: JSON.stringify(refusal) }] };
  }

  private shower(): TextShower {
    return new TextShower(this.withoutNames, DETAIL_LIMIT);
  }

  private said(text: string): string {
    return this.withoutNames.ours(cutTo(seen(text), DETAIL_LIMIT).text);
  }
}

async function endOf(stream: Readable, part: View['part'], most: number) {
  let [bytes, held] = [0, 0];
  let chunks: Buffer[] = [];
  for await (const chunk of stream) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (part === 'head' && held >= most) continue;
    chunks.push(piece);
    held += piece.length;
    if (part === 'tail' && held > 2 * most) {
      const tail = Buffer.concat(chunks).subarray(-most);
      chunks = [tail];
      held = tail.length;
    }
  }
  const whole = Buffer.concat(chunks);
  return { bytes, kept: part === 'head' ? whole.subarray(0, most) : whole.subarray(-most) };
}
