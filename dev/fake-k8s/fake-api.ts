import type { Answer as HttpAnswer } from '../fake-http/fake-answer.js';
import { accessReview, type Call, may, refusedBy, selfReview } from './fake-access.js';
import type { FakeCluster } from './fake-cluster.js';
import { isKind, RESOURCES, type Target, targetOf } from './fake-resources.js';
import { type LogHost, type Question, Rest } from './fake-rest.js';
import { answerOf, type Seed } from './fake-seed.js';
import { noResource, notAllowed, ok, unauthorized } from './status.js';

const VERSION = { major: '1', minor: '34', gitVersion: 'v1.34.4', platform: 'linux/amd64' };

/** Who may ask what, and who answers it. */
export class FakeApi {
  readonly calls: Call[] = [];
  logs: LogHost | undefined;
  private readonly rest: Rest;

  constructor(
    private readonly cluster: FakeCluster,
    private readonly seed: Seed | undefined,
  ) {
    this.rest = new Rest({ ...cluster, logs: () => this.logs });
  }

  answer(question: Question, isUnknown: boolean): HttpAnswer | Promise<HttpAnswer> {
    const { path, account, body } = question;
    if (isUnknown) return unauthorized();
    if (path === '/version') return ok({ ...VERSION, ...(this.seed && { gitVersion: this.seed.version }) });
    const target = targetOf(path);
    if (!target) return { status: 404, body: '404 page not found\n' };
    if (target.resource === 'selfsubjectreviews') return selfReview(account);
    if (target.resource === 'selfsubjectaccessreviews') return accessReview(account, body);
    const { resource } = target;
    if (!isKind(resource) || RESOURCES[resource].group !== target.group) return noResource();
    const verb = verbOf(question, target);
    if (!verb) return notAllowed();
    return this.allowed(verb, target, question) ?? this.answered(resource, verb, target, question);
  }

  private answered(kind: keyof typeof RESOURCES, verb: string, target: Target, question: Question) {
    const { name, subresource } = target;
    if (this.seed && !subresource && (verb === 'get' || verb === 'list')) {
      return answerOf(this.seed, kind, name, question.query);
    }
    const answer = this.rest.answer(kind, verb, target, question);
    if (verb === 'create' && !subresource) this.count(kind, answer);
    return answer;
  }

  private count(kind: string, answer: HttpAnswer | Promise<HttpAnswer>): void {
    if (typeof answer !== 'object' || !('body' in answer) || answer.status !== 201) return;
    const { metadata } = answer.body as { metadata: { name: string } };
    this.cluster.ledger.created(kind, metadata.name);
  }

  /** The refusal, if there is one. */
  private allowed(verb: string, target: Target, { account }: Question) {
    const { group, namespace, name, subresource } = target;
    const resource = subresource ? `${target.resource}/${subresource}` : target.resource;
    const scope = resource === 'namespaces' ? name : namespace;
    const isAllowed = may(account, verb, resource, scope);
    const where = { ...(scope && { namespace: scope }), ...(name && { name }) };
    this.cluster.ledger.called(verb, resource);
    this.calls.push({ user: account?.user ?? '', verb, group, resource, ...where, isAllowed });
    return isAllowed ? undefined : refusedBy(account, { verb, group, resource, ...where });
  }
}

function verbOf({ method, query }: Question, { name }: Target): string | undefined {
  switch (method) {
    case 'GET':
      if (name) return 'get';
      return ['1', 'true'].includes(query.get('watch') ?? '') ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PATCH':
      return name && 'patch';
    case 'DELETE':
      return name ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}
