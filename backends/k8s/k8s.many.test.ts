import { once, setMaxListeners } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { makeCertificates } from '../../dev/fake-k8s/certificates.js';
import { FakeK8s } from '../../dev/fake-k8s/fake-k8s.js';
import type { Pod } from '../../dev/fake-k8s/fake-objects.js';
import { parseAllowList } from '../../policy/addresses.js';
import { aK8sRuntime, PATIENCE } from '../../test/builders.js';
import { aCaseJob, aCaseRef } from '../../test/cases.js';
import { eventually } from '../../test/eventually.js';
import { ACCOUNT, NAMESPACE, TOKEN } from '../../test/k8s-case.js';
import { createCluster } from '../cluster.js';
import { Egress } from '../egress/guard.js';

const CASES = 200;
const STILL_MS = 2_000;

/** Pods that run for ever, print nothing, and take no process: nothing happens but what the test does. */
function runAll(fake: FakeK8s): void {
  fake.store.onChange(({ kind, object }) => {
    const { metadata, spec, status } = object as Pod;
    if (kind !== 'pods' || spec.nodeName === undefined || status.phase !== 'Pending') return;
    const running = { startedAt: new Date().toISOString() };
    const main = { name: 'main', image: 'x', imageID: '', ready: true, restartCount: 0, state: { running } };
    fake.store.update('pods', NAMESPACE, metadata.name, (pod) => {
      pod.status = { ...pod.status, phase: 'Running', containerStatuses: [main] } as Pod['status'];
    });
  });
  fake.logs = () => ({
    status: 200,
    headers: { 'content-type': 'text/plain' },
    async *stream(gone) {
      if (!gone.aborted) await once(gone, 'abort');
      yield Buffer.alloc(0);
    },
  });
}

test('200 cases on one runtime hold two watches, a few connections, and a log each, and ask nothing while nothing happens', async () => {
  const certificates = makeCertificates();
  const nodes = [{ name: 'node-1', capacity: { cpu: '1000', memory: '1000Gi', pods: '1000' } }];
  const fake = await FakeK8s.start({ certificates, accounts: { [TOKEN]: ACCOUNT }, namespaces: [NAMESPACE], nodes });
  const runtime = aK8sRuntime({ server: fake.url, authSecret: 'kube', caCert: certificates.ca, namespace: NAMESPACE });
  if (runtime.kind !== 'k8s') throw new Error('the builder makes another kind');
  const egress = new Egress(parseAllowList('127.0.0.0/8').rules);
  const bound = { name: 'kube', path: 'authSecret', token: TOKEN, origins: [fake.url], version: 1 } as const;
  const { client, backend } = createCluster(runtime, bound, {
    ...{ deployment: 'lab', egress, nomadConnections: 1, patience: PATIENCE },
  });
  try {
    runAll(fake);
    const leaving = new AbortController();
    setMaxListeners(0, leaving.signal);
    const placed = new Set<string>();
    const follow = async () => {
      const { ref, owner } = aCaseRef();
      await backend.submit(aCaseJob(owner), ref);
      const watch = { from: { stdout: 0, stderr: 0 }, signal: leaving.signal, limitMs: 3_600_000 };
      for await (const { kind } of backend.watch(ref, watch)) if (kind === 'placed') placed.add(ref.name);
    };
    const followed = Promise.allSettled(Array.from({ length: CASES }, follow));
    const isAllRead = async () => placed.size === CASES && fake.ledger.open.log === CASES;
    await eventually('all run and are read', isAllRead, 90_000);
    const asked = fake.calls.filter(({ verb }) => verb !== 'watch').length;
    await after(STILL_MS);
    expect(fake.calls.filter(({ verb }) => verb !== 'watch').length).toBe(asked);
    expect(fake.ledger.open).toMatchObject({ watch: 2, log: CASES });
    expect(fake.ledger.peaks.watch).toBeLessThanOrEqual(3);
    expect(fake.ledger.peakConnections).toBeLessThanOrEqual(CASES + 8 + 4);
    leaving.abort();
    expect((await followed).filter(({ status }) => status === 'rejected')).toEqual([]);
    await eventually('nothing is read any more', async () => fake.ledger.open.log === 0);
  } finally {
    await client.close();
    await fake.close();
  }
}, 120_000);
