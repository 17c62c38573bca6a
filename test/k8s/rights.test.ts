import { JOB_RIGHTS, type Right, rightText } from '../../backends/k8s/k8s.rights.js';
import { eventually } from '../eventually.js';
import type { Rule } from './documented-role.js';
import { describeLive, Site } from './site.js';

const ruleOf = ({ group, resource, subresource, verb }: Right): Rule => ({
  apiGroups: [group],
  resources: [subresource ? `${resource}/${subresource}` : resource],
  verbs: [verb],
});

describeLive('rights', () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  }, 120_000);
  afterAll(() => site.close(), 180_000);

  const probe = () => site.cluster().client.probe(AbortSignal.timeout(10_000));

  test('the documented Role is all that the probe asks for, and each right that is missing is named', async () => {
    expect(await probe()).toMatchObject({ reachable: true });
    for (const missing of JOB_RIGHTS) {
      await site.allow(JOB_RIGHTS.filter((right) => right !== missing).map(ruleOf));
      const answer = await eventually(`${rightText(missing)} is refused`, async () => {
        const found = await probe();
        return found.reachable ? undefined : found;
      });
      expect(answer).toMatchObject({ reason: 'auth', detail: expect.stringContaining(rightText(missing)) });
      await site.allow(JOB_RIGHTS.map(ruleOf));
      await eventually('all is allowed', async () => (await probe()).reachable);
    }
  }, 120_000);
});
