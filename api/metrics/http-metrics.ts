import type { FastifyReply, FastifyRequest } from 'fastify';
import { Histogram, type Registry } from 'prom-client';

const BUCKETS_SEC = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How long requests take, by the template of their route: what callers put into a URL makes no series of its own. */
export class HttpMetrics {
  private readonly durations: Histogram<'method' | 'route' | 'status'>;

  constructor(registry: Registry) {
    this.durations = new Histogram({
      name: 'everdict_http_request_duration_seconds',
      help: 'From the first byte of a request to the last of its answer, by route template; "none" is no route of ours.',
      labelNames: ['method', 'route', 'status'],
      buckets: BUCKETS_SEC,
      registers: [registry],
    });
  }

  observe(request: FastifyRequest, reply: FastifyReply): void {
    const route = request.is404 ? 'none' : (request.routeOptions.url ?? 'none');
    this.durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1_000);
  }
}
