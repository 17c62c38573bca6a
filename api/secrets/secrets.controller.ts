import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { Rotation, SecretInput, SecretName, SecretStored, SecretView } from '../../contracts/secret.js';
import { Caller, type Principal } from '../common/caller.js';
import { ListQuery, type Page, pageOf } from '../common/cursor.js';
import { Requires } from '../common/requires.js';
import { parseInput } from '../common/schema.pipe.js';
import { Tool } from '../common/tool.js';
import { SECRET } from '../openapi/examples.js';
import { Operation } from '../openapi/operation.js';
import { SecretsService } from './secrets.service.js';

const DeleteQuery = z.strictObject({
  force: z.enum(['true', 'false']).default('false').describe('Also while runtimes or harnesses name it'),
});

const WrittenName = z.strictObject({ name: SecretName });

@Controller('secrets')
export class SecretsController {
  constructor(private readonly secrets: SecretsService) {}

  @Put(':name')
  @Requires('administer')
  @Operation({
    summary: 'Sets a secret; its value is never read back',
    description:
      'A `cluster` secret is sent to its `origins` only; `registry` and `git` secrets to their `hosts`; an `env` secret reaches the jobs of harnesses that name it by `secretRef`.',
    answer: { status: 200, schema: SecretStored },
    bodyExample: SECRET,
    refuses: ['SECRETS_DISABLED'],
  })
  async put(
    @Caller() principal: Principal,
    // What is written under a bad name is a bad request; what is looked for under one is not there.
    @Param('name', { schema: z.string() }) written: string,
    @Body({ schema: SecretInput }) input: SecretInput,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SecretStored> {
    const { name } = parseInput(WrittenName, { name: written }, 'the path');
    const { isNew, stored } = await this.secrets.put(principal, name, input);
    reply.status(isNew ? 201 : 200);
    return stored;
  }

  @Get()
  @Requires('administer')
  @Tool({ name: 'list_secrets', effect: 'read' })
  @Operation({ summary: 'Names, uses and bindings; never values', answer: { status: 200, schema: pageOf(SecretView) } })
  list(@Caller() { workspace }: Principal, @Query({ schema: ListQuery }) query: ListQuery): Promise<Page<SecretView>> {
    return this.secrets.list(workspace, query);
  }

  @Delete(':name')
  @Requires('administer')
  @HttpCode(204)
  @Tool({ name: 'delete_secret', effect: 'destroy', isIdempotent: true, confirm: 'name' })
  @Operation({
    summary: 'Deletes a secret that nobody names',
    answer: { status: 204 },
    refuses: ['CONFLICT', 'NOT_FOUND'],
  })
  remove(
    @Caller() { workspace }: Principal,
    @Param('name', { schema: SecretName }) name: string,
    @Query({ schema: DeleteQuery }) { force }: z.infer<typeof DeleteQuery>,
  ): Promise<void> {
    return this.secrets.remove(workspace, name, force === 'true');
  }

  @Post('rotate-key')
  @Requires('operate', { isAnywhere: true })
  @HttpCode(200)
  @Tool({ name: 'reseal_secrets', effect: 'write', isIdempotent: true })
  @Operation({
    summary: 'Seals every secret of the deployment with the first key',
    description: 'Can be repeated at any time, also while secrets are set and read.',
    answer: { status: 200, schema: Rotation },
    refuses: ['SECRETS_DISABLED'],
  })
  rotate(): Promise<Rotation> {
    return this.secrets.rotate();
  }
}
