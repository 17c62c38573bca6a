import { Body, Controller, Get, HttpCode, Param, Post, Put, Query, type Type } from '@nestjs/common';
import { SpecId, SpecVersion } from '../../contracts/ids.js';
import { DeprecationRequest, LISTED, type SpecFolder, TagsRequest } from '../../contracts/registration.js';
import { Caller, type Principal } from '../common/caller.js';
import { type Page, pageOf } from '../common/cursor.js';
import { KINDS } from '../common/registration.js';
import { type Listed, RegistryService, VersionQuery } from '../common/registry.service.js';
import { Requires } from '../common/requires.js';
import { parseInput } from '../common/schema.pipe.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';

/** What is the same for the versions of everything that is registered: lists, and what is said of a version. */
export function versionsController(folder: SpecFolder): Type<unknown> {
  const answer = { status: 200, schema: LISTED[folder] };
  const kind = KINDS[folder];

  @Controller(folder)
  class VersionsController {
    constructor(private readonly registry: RegistryService) {}

    @Get()
    @Requires('read')
    @Tool({ name: `list_${folder}`, effect: 'read' })
    @Operation({
      summary: `Every version of every ${kind} that the workspace sees`,
      description:
        'Its own, and the shared ones of every id of which it has none. Each is its content with what is said of it: ' +
        '`owner`, `tags`, whether it is the `latest`, `confirmed`, `deprecated`.',
      answer: { status: 200, schema: pageOf(LISTED[folder]) },
    })
    list(
      @Caller() { workspace }: Principal,
      @Query({ schema: VersionQuery }) query: VersionQuery,
    ): Promise<Page<Listed>> {
      return this.registry.list(folder, workspace, query);
    }

    @Put(':id/versions/:version/tags')
    @Requires('curate')
    @Tool({ name: `set_${kind}_tags`, effect: 'write', isIdempotent: true })
    @Operation({
      summary: `Replaces the tags of a version of a ${kind}`,
      description: 'At most 20; `[]` clears them. They are no part of its content.',
      bodyExample: { tags: ['gpu node'] },
      answer,
      refuses: ['NOT_FOUND'],
    })
    setTags(
      @Caller() principal: Principal,
      @Param('id', { schema: SpecId }) id: string,
      @Param('version', { schema: SpecVersion }) version: string,
      @Body({ schema: TagsRequest }) { tags }: TagsRequest,
    ): Promise<Listed> {
      return this.registry.setTags(folder, principal, { id, version }, tags);
    }

    @Post(':id/versions/:version/deprecate')
    @HttpCode(200)
    @Requires('curate')
    @Tool({ name: `deprecate_${kind}`, effect: 'write', isIdempotent: true })
    @Operation({
      summary: `Deprecates a version of a ${kind}`,
      description: 'It is never the latest, and is still read and used by whoever names it with its version.',
      body: DeprecationRequest,
      bodyExample: { reason: 'the cluster moved' },
      answer,
      refuses: ['NOT_FOUND'],
    })
    deprecate(
      @Caller() principal: Principal,
      @Param('id', { schema: SpecId }) id: string,
      @Param('version', { schema: SpecVersion }) version: string,
      @Body() body: unknown,
    ): Promise<Listed> {
      const { reason } = parseInput(DeprecationRequest, body ?? {}, 'the body');
      return this.registry.deprecate(folder, principal, { id, version }, reason);
    }

    @Post(':id/versions/:version/restore')
    @HttpCode(200)
    @Requires('curate')
    @Tool({ name: `restore_${kind}`, effect: 'write', isIdempotent: true })
    @Operation({ summary: `Takes the deprecation of a version of a ${kind} back`, answer, refuses: ['NOT_FOUND'] })
    restore(
      @Caller() principal: Principal,
      @Param('id', { schema: SpecId }) id: string,
      @Param('version', { schema: SpecVersion }) version: string,
    ): Promise<Listed> {
      return this.registry.restore(folder, principal, { id, version });
    }

    @Post(':id/versions/:version/confirm')
    @HttpCode(200)
    @Requires('curate')
    @Tool({ name: `confirm_${kind}`, effect: 'write', isIdempotent: true })
    @Operation({
      summary: `Confirms a version of a ${kind} that somebody registered who may not run it`,
      description: 'From now on it may be the latest. Confirming it again changes nothing.',
      answer,
      refuses: ['NOT_FOUND', 'CONFLICT'],
    })
    confirm(
      @Caller() principal: Principal,
      @Param('id', { schema: SpecId }) id: string,
      @Param('version', { schema: SpecVersion }) version: string,
    ): Promise<Listed> {
      return this.registry.confirm(folder, principal, { id, version });
    }
  }
  return VersionsController;
}
