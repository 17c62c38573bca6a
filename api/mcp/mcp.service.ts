import type { Server } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { JsonLog } from '../../config/log.js';
import { ApiDescription } from '../openapi/description.js';
import { type Connection, ToolCalls } from './calls.js';
import { mcpServer } from './mcp-server.js';
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

  /** Controllers are known once the application is made. */
  private calls(): ToolCalls {
    const server: FastifyInstance = this.host.httpAdapter.getInstance();
    this.made ??= new ToolCalls(server, toolsOf(this.description.routes()), this.log);
    return this.made;
  }
}
