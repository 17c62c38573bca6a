import type { Server } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { JsonLog } from '../../config/log.js';
import { invalid } from '../common/schema.pipe.js';
import { ApiDescription } from '../openapi/description.js';
import { type Connection, ToolCalls } from './calls.js';
import { mcpServer, unknownIn } from './mcp-server.js';
import { toolsOf } from './tool-list.js';

@Injectable()
export class McpService {
  private made?: ToolCalls;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly description: ApiDescription,
    private readonly log: JsonLog,
  ) {}

  serve(connection: Connection, reach: string): Server {
    return mcpServer(this.calls(), connection, reach);
  }

  refuseUnknown(reach: string): void {
    const unknown = unknownIn(reach, this.calls().tools);
    if (unknown.length === 0) return;
    const message = `there is no tool ${unknown.join(', ')}: without ?tools= tools/list names all`;
    throw invalid('the query', [{ path: 'tools', message }]);
  }

  /** Controllers are known once the application is made. */
  private calls(): ToolCalls {
    const server: FastifyInstance = this.host.httpAdapter.getInstance();
    this.made ??= new ToolCalls(server, toolsOf(this.description.routes()), this.log);
    return this.made;
  }
}
