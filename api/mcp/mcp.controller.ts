import { Body, Controller, Delete, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Malformed } from '../common/body-parsers.js';
import { Requires } from '../common/requires.js';
import { Takes } from '../common/takes.js';
import { Operation } from '../openapi/operation.js';
import { connectionOf } from './calls.js';
import { McpService } from './mcp.service.js';
import { answerMessage, notAllowed, notJson, SESSION_HEADER, sessionUnknown } from './transport.js';

const McpQuery = z.strictObject({
  tools: z
    .string()
    .regex(
      /^[a-z_]{1,64}(,[a-z_]{1,64}){0,99}$/,
      'is neither `all`, nor `read`, nor names of tools with commas between',
    )
    .default('all')
    .describe('`read`: only tools that change nothing. Names, with commas between: only those'),
});
type McpQuery = z.infer<typeof McpQuery>;

const RULE = { isAnywhere: true, resource: '/mcp' };

@Controller('mcp')
export class McpController {
  constructor(private readonly mcp: McpService) {}

  @Post()
  @Takes('junk')
  @Requires('read', RULE)
  @Operation({
    summary: 'The Model Context Protocol: the routes of this API as tools',
    description:
      'Streamable HTTP without sessions: every message is a request of its own, and is answered as JSON. A tool takes ' +
      'what its route takes and asks for the same permission.',
    answer: { status: 200, type: 'application/json' },
    isAudited: false,
  })
  async post(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Body() body: unknown,
    @Query({ schema: McpQuery }) { tools }: McpQuery,
  ): Promise<void> {
    this.mcp.refuseUnknown(tools);
    if (body === undefined) return send(reply, notJson('a JSON-RPC message is required'));
    if (body instanceof Malformed) return send(reply, notJson(body.errors.map(({ message }) => message).join('; ')));
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const message = { url: `http://everdict${request.url}`, headers: headersOf(request), body };
    const serve = () => this.mcp.serve(connectionOf(request), tools);
    await send(reply, await answerMessage(message, gone.signal, serve));
  }

  @Get()
  @Requires('read', RULE)
  listen(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return send(reply, withoutSessions(request));
  }

  @Delete()
  @Requires('read', RULE)
  end(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return send(reply, withoutSessions(request));
  }
}

const withoutSessions = ({ headers }: FastifyRequest): Response =>
  headers[SESSION_HEADER] === undefined ? notAllowed() : sessionUnknown();

function headersOf({ headers }: FastifyRequest): Headers {
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || name === 'authorization'
      ? []
      : [[name, [value].flat().join(', ')] satisfies [string, string]],
  );
  return new Headers(kept);
}

async function send(reply: FastifyReply, response: Response): Promise<void> {
  if (reply.raw.destroyed) return;
  const body = Buffer.from(await response.arrayBuffer());
  reply.status(response.status);
  const [type, allow] = [response.headers.get('content-type'), response.headers.get('allow')];
  if (type) reply.type(type);
  if (allow) reply.header('allow', allow);
  await reply.send(body.length > 0 ? body : undefined);
}
