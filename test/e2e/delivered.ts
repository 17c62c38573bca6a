import type { FakeK8s } from '../../dev/fake-k8s/fake-k8s.js';
import type { FakeNomad } from '../../dev/fake-nomad/fake-nomad.js';
import { canariesIn } from './canaries.js';

type Canaries = Readonly<Record<string, string>>;

/** What was registered with a Nomad, by case: canaries in it, and those that are left without the credential of an image. */
export function registeredWith(nomad: FakeNomad, canaries: Canaries): Record<string, [string[], string[]]> {
  const documents = nomad.requests.filter(({ method, path }) => method === 'PUT' && path === '/v1/jobs');
  return Object.fromEntries(
    documents.map(({ body }) => {
      const { Job } = body as { Job: { Meta: { case: string }; TaskGroups: [{ Tasks: [{ Config: object }] }] } };
      const whole = canariesIn(Buffer.from(JSON.stringify(Job)), canaries);
      Reflect.deleteProperty(Job.TaskGroups[0].Tasks[0].Config, 'auth');
      return [Job.Meta.case, [whole, canariesIn(Buffer.from(JSON.stringify(Job)), canaries)]];
    }),
  );
}

/** What was posted to a Kubernetes of one resource, by case: canaries in all of it. */
export function postedTo({ requests }: FakeK8s, resource: string, canaries: Canaries): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { method, path, body } of requests) {
    if (method !== 'POST' || !path.endsWith(`/${resource}`)) continue;
    const { metadata } = JSON.parse(body) as { metadata: { annotations: { 'everdict.dev/case': string } } };
    const caseId = metadata.annotations['everdict.dev/case'];
    found[caseId] = [...(found[caseId] ?? []), ...canariesIn(Buffer.from(body), canaries)];
  }
  return found;
}
