import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Reach, ToolCalls } from './calls.js';
import type { Arguments } from './tool-request.js';

/** What a resource or a prompt asks, as calls of tools that read: by its caller, who is refused as there. */
export class Asked {
  constructor(
    private readonly calls: ToolCalls,
    private readonly connection: Reach,
    private readonly signal: AbortSignal,
  ) {}

  /** The answer as JSON, with texts of others labelled. */
  async text(name: string, args: Arguments): Promise<string> {
    const tool = this.calls.tools.get(name);
    if (!tool) throw new Error(`there is no tool ${name}`);
    return textOf(await this.calls.call(tool, args, this.connection, this.signal));
  }

  /** The answer of the route itself, for what writes a text of it. */
  async raw(name: string, args: Arguments): Promise<unknown> {
    const tool = this.calls.tools.get(name);
    if (!tool) throw new Error(`there is no tool ${name}`);
    const answer = await this.calls.raw(tool, args, this.connection, this.signal);
    return 'refused' in answer ? textOf(answer.refused) : answer.body;
  }
}

function textOf({ content, isError }: CallToolResult): string {
  const [first] = content;
  const text = first?.type === 'text' ? first.text : '';
  if (isError) throw new ProtocolError(ProtocolErrorCode.InvalidParams, text);
  return text;
}
