import { Controller, Get, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { PlatformError } from '../../contracts/errors.js';
import { Public } from '../common/requires.js';
import { isOfThisMachine } from '../identity/access.js';
import { Operation } from '../openapi/operation.js';
import { Readiness, ReadinessService } from './readiness.service.js';

const Health = z.strictObject({ status: z.literal('ok') });
type Health = z.infer<typeof Health>;

@Controller()
export class HealthController {
  constructor(private readonly readiness: ReadinessService) {}

  @Get('healthz')
  @Public()
  @Operation({ summary: 'Whether the process is alive', answer: { status: 200, schema: Health } })
  health(): Health {
    return { status: 'ok' };
  }

  @Get('readyz')
  @Public()
  @Operation({
    summary: 'Whether everything it needs answers; a 503 names what does not',
    description:
      'Why something failed is told to this machine only. Without a worker it is ready all the same, and `workers` says so: what is submitted waits for one.',
    answer: { status: 200, schema: Readiness },
    refuses: ['NOT_READY'],
  })
  async ready(@Req() request: FastifyRequest): Promise<Readiness> {
    const read = await this.readiness.read();
    const readiness = isOfThisMachine(request) ? read : withoutReasons(read);
    const failed = readiness.checks.filter(({ name, status }) => status !== 'ok' && name !== 'workers');
    if (failed.length === 0) return readiness;
    throw new PlatformError('NOT_READY', `not ready: ${failed.map(({ name }) => name).join(', ')}`, {
      errors: failed.map(({ name, status }) => ({ path: name, message: status })),
    });
  }
}

/** What drivers say names hosts and users: it is for whoever runs the process. */
const withoutReasons = ({ checks }: Readiness): Readiness => ({
  checks: checks.map(({ name, status }) => ({ name, status: status === 'ok' ? status : 'failed' })),
});
