import { Controller, Get } from '@nestjs/common';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { AdmissionAudit, AuditService } from './audit.service.js';

@Controller('admission')
export class AdmissionController {
  constructor(private readonly audits: AuditService) {}

  @Get('audit')
  @Requires('operate', { isAnywhere: true })
  @Tool({ name: 'audit_admission', effect: 'read' })
  @Operation({
    summary: 'Whether the slots that are granted and the attempts that run agree',
    description: 'Asks the ledger of every runtime, those in use first, at most 200. `drift` must be 0.',
    answer: { status: 200, schema: AdmissionAudit },
  })
  audit(): Promise<AdmissionAudit> {
    return this.audits.read();
  }
}
