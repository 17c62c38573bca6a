import { readFileSync } from 'node:fs';
import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import { FakeNomad } from '../../dev/fake-nomad/fake-nomad.js';
import { aNomadRuntime } from '../../test/builders.js';
import { aJob, aLab, REF, recordText, watched } from '../../test/nomad-jobs.js';
import { JOBS_ONLY } from '../../test/nomad-lab.js';
import { NomadCluster } from './nomad.cluster.js';

const read = (path: string): string => readFileSync(path, 'utf8');

const POLICY = read('examples/nomad/everdict.policy.hcl').replace(/#.*/g, '');
const [, namespace = '', list = ''] = /namespace "(\S+)" \{\s*capabilities = \[([^\]]*)\]/.exec(POLICY) ?? [];
const CAPABILITIES = [...list.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
const policyOf = (rule: string) => ({
  Policy: new RegExp(`\\b${rule} \\{\\s*policy = "(\\w+)"`).exec(POLICY)?.[1] ?? '',
});

/** What every token may do, and what takes none. */
const FREE: ReadonlySet<string> = new Set(['open', 'good', 'any']);

const rules = (capabilities: readonly string[]) => ({
  Namespaces: [{ Name: namespace, Capabilities: [...capabilities] }],
  Node: policyOf('node'),
  Agent: policyOf('agent'),
});

let fake: FakeNomad | undefined;
afterEach(() => fake?.stop());

async function lab(capabilities: readonly string[]) {
  const acl = { tokens: { [JOBS_ONLY]: { policies: ['everdict'] } }, policies: { everdict: rules(capabilities) } };
  fake = await FakeNomad.start({ acl, namespaces: ['default', namespace] });
  const spec = { addr: fake.url, namespace };
  const { backend, client } = aLab(fake.url, { ...spec, token: JOBS_ONLY });
  return { fake, backend, client, cluster: new NomadCluster(aNomadRuntime(spec) as NomadRuntimeSpec, client, 'dep') };
}

const SCRIPT = `printf '%s' '${recordText()}'\n`;
const job = (script: string) => aJob({ payload: new Map([['wrapper.sh', Buffer.from(script)]]) });
const SOON = () => AbortSignal.timeout(20_000);

test('the runbook gives that policy', () => {
  const tight = (text: string) => text.replace(/\s|,(?=\s*\])/g, '');
  const given = read('docs/runbooks/nomad.md').matchAll(/```hcl\n([^`]*)```/g);
  expect([...given].map(([, text = '']) => tight(text))).toContain(tight(POLICY));
});

test('a token of the example policy is enough for all that is asked of Nomad, and has no right that nothing asks for', async () => {
  const { fake, backend, client, cluster } = await lab(CAPABILITIES);
  try {
    expect(await cluster.probe(SOON())).toMatchObject({ reachable: true });
    expect((await cluster.inspect(SOON())).warnings).toEqual([]);
    const lingering = { ...REF, name: `${REF.name}0` };
    expect(await backend.submit(job(`${SCRIPT}sleep 60\n`), REF)).toBe('created');
    expect((await watched({ backend })).at(-1)).toMatchObject({ kind: 'record' });
    expect((await backend.list('dep')).allocations).toMatchObject([{ name: REF.name }]);
    await backend.stop(REF);
    expect((await backend.list('dep')).allocations).toEqual([]);
    // One that has ended by itself, without a record: its log is read to the end, and its size is looked at.
    const silent = { ...aJob().owner, attempt: 10 };
    expect(await backend.submit({ ...job('echo done\n'), owner: silent }, lingering)).toBe('created');
    expect((await watched({ backend }, lingering)).at(-1)).toMatchObject({ kind: 'silent' });
  } finally {
    await client.close();
  }
  const asked = [...fake.rights].filter((right) => !FREE.has(right));
  expect(asked.sort()).toEqual([...CAPABILITIES, 'Agent', 'Node'].sort());
  expect(fake.unknown).toEqual([]);
});

test.each(['submit-job', 'read-job'])(
  'a token without %s runs nothing, and is told which right it lacks',
  async (lacking) => {
    const { backend, client } = await lab(CAPABILITIES.filter((capability) => capability !== lacking));
    try {
      await expect(backend.submit(job(SCRIPT), REF)).rejects.toMatchObject({
        reason: 'refused',
        message: expect.stringContaining(lacking),
      });
    } finally {
      await client.close();
    }
  },
);
