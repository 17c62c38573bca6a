import { Controller, Get, Query } from '@nestjs/common';
import { AuditEvent } from '../../contracts/audit.js';
import { Caller, type Principal } from '../common/caller.js';
import { type Page, pageOf } from '../common/cursor.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { TrailQuery } from './trail.schema.js';
import { TrailService } from './trail.service.js';

@Controller('audit')
export class TrailController {
  constructor(private readonly trail: TrailService) {}

  @Get()
  @Requires('administer')
  @Tool({ name: 'list_audit_events', effect: 'read' })
  @Operation({
    summary: 'Who did what in this workspace, newest first',
    description:
      'A row for every write, probe and control, also for those that were refused. It holds no value and no body, only ' +
      'hashes of content. `_shared` has the rows of what belongs to no workspace.',
    answer: { status: 200, schema: pageOf(AuditEvent) },
  })
  list(
    @Caller() { workspace }: Principal,
    @Query({ schema: TrailQuery }) query: TrailQuery,
  ): Promise<Page<AuditEvent>> {
    return this.trail.list(workspace, query);
  }
}
