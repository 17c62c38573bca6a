import type { Readable } from 'node:stream';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify';
import type { JsonLog } from '../../config/log.js';
import { PlatformError } from '../../contracts/errors.js';
import { Problem, toProblem } from '../common/problem.js';
import { WORKSPACE_HEADER } from '../identity/workspace-header.js';
import { CallerTurns } from './caller-turns.js';
import { type WithoutNames, withoutNames } from './shown-text.js';
import { ToolAnswers } from './tool-answer.js';
import type { ToolOfRoute } from './tool-list.js';
import { type Arguments, requestOf, viewOf } from './tool-request.js';

/** What of the connection a call goes on with. */
export interface Connection {
  requestId: string;
  caller: string;
  remoteAddress: string;
  headers: Record<string, string>;
}

/** A connection with the tools that it has. */
export interface Reach extends Connection {
  tools: ReadonlyMap<string, ToolOfRoute>;
}

export function connectionOf({ id, ip, headers, identity }: FastifyRequest): Connection {
  const kept = ['authorization', WORKSPACE_HEADER, 'host'].flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  const named = Object.fromEntries(kept);
  return {
    requestId: id,
    caller: `${identity?.subject ?? ''} ${headers[WORKSPACE_HEADER] ?? ''}`,
    remoteAddress: ip,
    headers: { ...named, 'x-request-id': id, 'content-type': 'application/json' },
  };
}

/**
 * Carries a call out as the request of the HTTP API that it stands for, by its caller: whatever holds for the route
 * holds for the tool.
 */
export class ToolCalls {
  private readonly turns = new CallerTurns();
  private readonly answers: ToolAnswers;
  private readonly withoutNames: WithoutNames;

  constructor(
    private readonly server: FastifyInstance,
    readonly tools: ReadonlyMap<string, ToolOfRoute>,
    private readonly log: Pick<JsonLog, 'error'>,
  ) {
    this.withoutNames = withoutNames([...tools.keys()]);
    this.answers = new ToolAnswers(this.withoutNames);
  }

  async call(tool: ToolOfRoute, args: Arguments, connection: Reach, signal: AbortSignal): Promise<CallToolResult> {
    try {
      return await this.turns.take(connection.caller, signal, () => this.answered(tool, args, connection, signal));
    } catch (error) {
      if (!(error instanceof PlatformError) && !signal.aborted) {
        this.log.error('tool failed', { tool: tool.info.name, requestId: connection.requestId, error });
      }
      return this.answers.refused(tool, toProblem(error, connection.requestId), connection.tools);
    }
  }

  /** What the route itself answers, for what makes another text of it. */
  async raw(tool: ToolOfRoute, args: Arguments, connection: Reach, signal: AbortSignal): Promise<Raw> {
    return this.turns.take(connection.caller, signal, async () => {
      const { response, stream } = await this.sent(tool, args, connection, signal);
      const body: unknown = JSON.parse(await textOf(stream));
      if (response.statusCode < 400) return { body };
      return { refused: this.answers.refused(tool, Problem.parse(body), connection.tools) };
    });
  }

  /** Text of the platform in which no tool is named by others. */
  shown(text: string): string {
    return this.withoutNames.ofOthers(text);
  }

  private async answered(
    tool: ToolOfRoute,
    args: Arguments,
    connection: Reach,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const view = viewOf(args);
    const { response, stream } = await this.sent(tool, args, connection, signal);
    if (response.statusCode >= 400) {
      return this.answers.refused(tool, Problem.parse(JSON.parse(await textOf(stream))), connection.tools);
    }
    if (tool.isText) return this.answers.text(stream, view);
    const text = await textOf(stream);
    const warnings = response.headers['x-everdict-warning'];
    return this.answers.json(tool, text === '' ? undefined : JSON.parse(text), view, warnings?.toString());
  }

  private async sent(tool: ToolOfRoute, args: Arguments, connection: Connection, signal: AbortSignal) {
    const { method, url, payload, headers } = requestOf(tool, args);
    const response = await this.server.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url,
      remoteAddress: connection.remoteAddress,
      headers: { ...withoutType(connection.headers, payload), ...headers },
      signal,
      payloadAsStream: true,
      ...(payload !== undefined && { payload }),
    });
    return { response, stream: response.stream() };
  }
}

/** What a route answered, or how it refused. */
type Raw = { body: unknown } | { refused: CallToolResult };

/** A request without a body has no type of one. */
function withoutType({ 'content-type': type, ...headers }: Record<string, string>, payload: string | undefined) {
  return payload === undefined || type === undefined ? headers : { ...headers, 'content-type': type };
}

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
