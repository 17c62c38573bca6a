import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { createRegistry } from '../config/registry.js';
import { appModule } from './app.module.js';
import { addTrailHooks } from './audit/trail.hooks.js';
import { Trail } from './audit/trail.js';
import { createAdapter } from './common/adapter.js';
import type { CommonParts } from './common/common.module.js';
import { FrameworkLog } from './common/framework-log.js';
import { ProblemFilter } from './common/problem.filter.js';
import { SchemaPipe } from './common/schema.pipe.js';
import { openAccess } from './identity/open-access.js';
import { HttpMetrics } from './metrics/http-metrics.js';

/** The HTTP application, not listening yet. */
export async function createApp(parts: CommonParts): Promise<NestFastifyApplication> {
  const { env, log } = parts;
  const registry = createRegistry();
  const access = await openAccess(parts);
  const adapter = createAdapter({
    log,
    metrics: new HttpMetrics(registry),
    access,
    trustedProxies: env.EVERDICT_TRUSTED_PROXIES,
    requestsPerSec: env.EVERDICT_REQUESTS_PER_SEC,
  });
  const { mode } = access;
  const app = await NestFactory.create<NestFastifyApplication>(appModule({ ...parts, registry, mode }), adapter, {
    logger: new FrameworkLog(log),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalPipes(new SchemaPipe());
  app.useGlobalFilters(new ProblemFilter(log));
  addTrailHooks(adapter.getInstance<FastifyInstance>(), app.get(Trail));
  await app.init();
  return app;
}
