import { Controller, Get, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Operator } from '../common/operator.js';
import { originOf } from '../common/origin.js';
import { Public } from '../common/requires.js';
import { Operation } from '../openapi/operation.js';

/** What a client learns before it may do anything, RFC 9728. */
const ProtectedResource = z.strictObject({
  resource: z.url(),
  resource_name: z.string(),
  authorization_servers: z.array(z.url()).describe('Whose tokens are taken; empty: API keys are'),
  bearer_methods_supported: z.array(z.literal('header')),
});
type ProtectedResource = z.infer<typeof ProtectedResource>;

const WHAT = {
  summary: 'Whose tokens `/mcp` takes',
  description: 'The metadata of a protected resource (RFC 9728), which a 401 of `/mcp` names.',
  answer: { status: 200, schema: ProtectedResource },
};

@Controller('.well-known')
export class ProtectedResourceController {
  constructor(private readonly operator: Operator) {}

  @Get('oauth-protected-resource')
  @Public()
  @Operation(WHAT)
  describeServer(@Req() request: FastifyRequest): ProtectedResource {
    return this.describe(request);
  }

  /** Where clients look first, as the resource has a path. */
  @Get('oauth-protected-resource/mcp')
  @Public()
  @Operation(WHAT)
  describe(@Req() request: FastifyRequest): ProtectedResource {
    const { tokenIssuer } = this.operator;
    return {
      resource: `${originOf(request)}/mcp`,
      resource_name: 'Everdict',
      authorization_servers: tokenIssuer === undefined ? [] : [tokenIssuer],
      bearer_methods_supported: ['header'],
    };
  }
}
