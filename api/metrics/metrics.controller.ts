import { Controller, Get, Header } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Requires } from '../common/requires.js';
import { Operation } from '../openapi/operation.js';
import { MetricsService } from './metrics.service.js';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: MetricsService) {}

  @Get()
  @Requires('operate', { isAnywhere: true, isMetrics: true })
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  @Operation({
    summary: 'State and work of the platform in the text format of Prometheus',
    answer: { status: 200, type: 'text/plain' },
  })
  expose(): Promise<string> {
    return this.metrics.expose();
  }
}
