import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { isLoopback } from '../config/loopback.js';
import { createRegistry } from '../config/registry.js';
import { appModule } from './app.module.js';
import { addTrailHooks } from './audit/trail.hooks.js';
import { Trail } from './audit/trail.js';
import { createAdapter } from './common/adapter.js';
import type { CommonParts } from './common/common.module.js';
import { FrameworkLog } from './common/framework-log.js';
import { ProblemFilter } from './common/problem.filter.js';
import { SchemaPipe } from './common/schema.pipe.js';
import { HttpMetrics } from './metrics/http-metrics.js';

/** The HTTP application, not listening yet. */
export async function createApp(parts: CommonParts): Promise<NestFastifyApplication> {
  const registry = createRegistry();
  const adapter = createAdapter({
    log: parts.log,
    metrics: new HttpMetrics(registry),
    requestsPerSec: parts.env.EVERDICT_REQUESTS_PER_SEC,
  });
  const app = await NestFactory.create<NestFastifyApplication>(appModule({ ...parts, registry }), adapter, {
    logger: new FrameworkLog(parts.log),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalPipes(new SchemaPipe());
  app.useGlobalFilters(new ProblemFilter(parts.log));
  addTrailHooks(adapter.getInstance<FastifyInstance>(), app.get(Trail));
  await app.init();
  return app;
}

/** Without authentication nobody but this machine may reach it. */
export function refuseForeignHost(host: string): void {
  if (isLoopback(host)) return;
  throw new Error(
    `EVERDICT_HOST is ${host}, but without access control the API binds to loopback only: use 127.0.0.1, ::1 or localhost`,
  );
}
