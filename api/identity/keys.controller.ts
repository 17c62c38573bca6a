import { Body, Controller, Delete, Get, Header, Param, Post, Query } from '@nestjs/common';
import { KeyId, KeyRequest, KeyView, NewKey, RevokedKey } from '../../contracts/access.js';
import { Caller, type Principal } from '../common/caller.js';
import { ListQuery, type Page, pageOf } from '../common/cursor.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { ForceQuery } from './force.query.js';
import { KeysService } from './keys.service.js';

@Controller('keys')
export class KeysController {
  constructor(private readonly keys: KeysService) {}

  @Post()
  @Requires('administer')
  @Header('cache-control', 'no-store')
  @Operation({
    summary: 'Makes an API key',
    description: 'Its `value` is in this answer and nowhere else. It may what the role may and the scope reaches.',
    answer: { status: 201, schema: NewKey },
    bodyExample: { name: 'nightly', role: 'ci', scope: 'write' },
  })
  create(@Caller() caller: Principal, @Body({ schema: KeyRequest }) request: KeyRequest): Promise<NewKey> {
    return this.keys.create(caller, request);
  }

  @Get()
  @Requires('administer')
  @Tool({ name: 'list_keys', effect: 'read' })
  @Operation({ summary: 'Every API key, newest first', answer: { status: 200, schema: pageOf(KeyView) } })
  list(@Caller() { workspace }: Principal, @Query({ schema: ListQuery }) query: ListQuery): Promise<Page<KeyView>> {
    return this.keys.list(workspace, query);
  }

  @Delete(':id')
  @Requires('administer')
  @Tool({ name: 'revoke_key', effect: 'destroy', isIdempotent: true, confirm: 'id' })
  @Operation({
    summary: 'Revokes an API key, from now on and for good',
    description: 'Those that were made with it go on; the answer names them.',
    answer: { status: 200, schema: RevokedKey },
    refuses: ['NOT_FOUND', 'CONFLICT'],
  })
  revoke(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: KeyId }) id: KeyId,
    @Query({ schema: ForceQuery }) { force }: ForceQuery,
  ): Promise<RevokedKey> {
    return this.keys.revoke(workspace, id, force);
  }
}
