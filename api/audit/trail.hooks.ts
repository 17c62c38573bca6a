import type { FastifyInstance, FastifyRequest } from 'fastify';
import { withRequestId } from '../../config/request-context.js';
import { type AuditDraft, withAuditDraft } from '../../store/audit-draft.js';
import { refusalOf } from '../common/refusals.js';
import type { Trail } from './trail.js';

/**
 * What runs for a request knows its id and its row of the audit trail. The row is stored before the answer goes out,
 * also of a request that was refused before it came to a handler.
 */
export function addTrailHooks(server: FastifyInstance, trail: Trail): void {
  const drafts = new WeakMap<FastifyRequest, AuditDraft>();
  const within = (request: FastifyRequest, work: () => void): void => {
    const draft = drafts.get(request);
    withRequestId(request.id, () => (draft ? withAuditDraft(draft, work) : work()));
  };
  server.addHook('onRequest', (request, _reply, done) => {
    const draft = trail.draft(request);
    if (draft) drafts.set(request, draft);
    within(request, done);
  });
  // A body comes from its socket, which knows of no request.
  server.addHook('preValidation', (request, _reply, done) => within(request, done));
  server.addHook('onSend', async (request, reply, payload) => {
    const draft = drafts.get(request) ?? trail.draft(request);
    const location = reply.getHeader('location');
    if (draft) {
      await trail.close(draft, {
        status: reply.statusCode,
        code: reply.statusCode >= 400 ? refusalOf(request) : undefined,
        ...(typeof location === 'string' && { location }),
      });
    }
    return payload;
  });
}
