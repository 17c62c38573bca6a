import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { JsonLog } from '../../config/log.js';
import { SHARED_WORKSPACE } from '../../contracts/ids.js';
import { AuditStore, type WorkspaceEvent } from '../../store/audit.store.js';
import type { AuditDraft, AuditFacts } from '../../store/audit-draft.js';
import { newId } from '../../store/ids.js';
import { Buckets } from '../common/buckets.js';
import { ApiDescription } from '../openapi/description.js';
import type { Route } from '../openapi/routes.js';
import { namedByLocation, namedByRequest, storableName } from './object-name.js';

/** Rows that belong to no workspace, as those of callers nobody knows, stand with those of what all workspaces share. */
const DEPLOYMENT = SHARED_WORKSPACE;
/** Refusals of one subject, or of one address where there is none, that are recorded. */
const REFUSALS = { perSec: 1, burst: 300 };
/** Refused because the caller asks too much, or the database is away: only the log has them. */
const UNRECORDED: readonly string[] = ['TOO_MANY_REQUESTS', 'STORE_UNAVAILABLE'];

interface Answer {
  status: number;
  location?: string;
  code?: string;
}

/** Records every request that acts: all but GET, and those GETs that say so. */
@Injectable()
export class Trail {
  private readonly refusals = new Buckets(REFUSALS);
  private routes?: ReadonlyMap<string, Route>;

  constructor(
    private readonly store: AuditStore,
    private readonly description: ApiDescription,
    private readonly log: JsonLog,
  ) {}

  /** The row of a request, if its route gets one. */
  draft(request: FastifyRequest): AuditDraft | undefined {
    const { url, method } = request.routeOptions;
    if (url === undefined || request.is404) return undefined;
    const name = `${String(method).toLowerCase()} ${url.replaceAll(/:(\w+)/g, '{$1}')}`;
    const route = this.known().get(name);
    const isAudited = route?.info.isAudited ?? !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
    if (!isAudited) return undefined;
    const [kind, action] = route ? [kindOf(route.tag), `${route.tag}.${route.handler}`] : ['route', name];
    const facts: AuditFacts = {};
    const event: AuditDraft['event'] = (outcome = { status: route?.info.answer.status ?? 200 }) => ({
      ...whoOf(request),
      ...{ id: newId('aud'), at: new Date().toISOString(), action, kind },
      object: storableName(facts.object ?? namedByRequest(request)),
      ...{ source: request.ip, requestId: request.id, status: outcome.status, code: outcome.code ?? null },
      ...{ before: facts.before ?? null, after: facts.after ?? null },
    });
    return { facts, event, isStored: false };
  }

  /** Called before the answer goes out, so that whoever has it finds its row. */
  async close(draft: AuditDraft, { status, location, code }: Answer): Promise<void> {
    const isRefused = status >= 400;
    if (!isRefused && draft.isStored) return;
    if (location !== undefined) draft.facts.object ??= namedByLocation(location);
    const event = draft.event({ status, code });
    if (isRefused && !this.isKept(event)) return;
    try {
      await this.store.record(event);
    } catch (error) {
      // What was done is done: its answer stands, and the log has what the trail lacks.
      this.log.error('audit row not stored', { event, error });
    }
  }

  private isKept({ code, subject, source, workspace }: WorkspaceEvent): boolean {
    if (code !== null && UNRECORDED.includes(code)) return false;
    return this.refusals.take(subject === null ? source : `${workspace} ${subject}`).isTaken;
  }

  private known(): ReadonlyMap<string, Route> {
    this.routes ??= new Map(this.description.routes().map((route) => [`${route.method} ${route.path}`, route]));
    return this.routes;
  }
}

function whoOf({ principal, identity }: FastifyRequest) {
  return {
    workspace: principal?.workspace ?? DEPLOYMENT,
    subject: identity?.subject ?? null,
    role: principal?.role ?? (identity?.isOperator ? 'operator' : null),
    keyId: identity?.keyId ?? null,
  };
}

/** `runtimes` are of the kind runtime, `harnesses` harness. */
const kindOf = (tag: string): string => tag.replace(/(?<=ss)es$|s$/, '');
