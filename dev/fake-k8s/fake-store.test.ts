import type { Draft, Pod } from './fake-objects.js';
import { type Change, FakeStore } from './fake-store.js';

const aPod = (metadata: Partial<Pod['metadata']> = {}): Draft<Pod> => ({
  metadata: { name: 'p', ...metadata },
  spec: { containers: [{ name: 'main', image: 'x' }] },
  status: { phase: 'Pending' },
});

function heard(store: FakeStore): string[] {
  const told: string[] = [];
  store.onChange(({ type, object, version }: Change) => told.push(`${type} ${object.metadata.name} ${version}`));
  return told;
}

describe('the store of a fake cluster', () => {
  test('every change has a version of its own, and is told once', () => {
    const store = new FakeStore();
    const told = heard(store);
    store.create('pods', 'evals', aPod());
    store.update('pods', 'evals', 'p', ({ status }) => {
      status.phase = 'Running';
    });
    store.remove('pods', 'evals', 'p');

    expect(told).toEqual(['ADDED p 1001', 'MODIFIED p 1002', 'MODIFIED p 1003', 'DELETED p 1004']);
    expect(store.get('pods', 'evals', 'p')).toBeUndefined();
  });

  test('a change that changes nothing is none', () => {
    const store = new FakeStore();
    store.create('pods', 'evals', aPod());
    const told = heard(store);
    store.update('pods', 'evals', 'p', () => undefined);

    expect(told).toEqual([]);
  });

  test('a generated name is cut so that it is at most 63 characters with its ending', () => {
    const store = new FakeStore();
    const { metadata } = store.create('pods', 'evals', aPod({ name: undefined, generateName: `${'a'.repeat(70)}-` }));

    expect(metadata.name).toMatch(/^a{58}[a-z0-9]{5}$/);
  });

  test('with a finalizer it is being deleted until that is gone', () => {
    const store = new FakeStore();
    store.create('pods', 'evals', aPod({ finalizers: ['batch.kubernetes.io/job-tracking'] }));
    const told = heard(store);
    store.remove('pods', 'evals', 'p');
    expect(store.get('pods', 'evals', 'p')?.metadata.deletionTimestamp).toBeDefined();
    store.update('pods', 'evals', 'p', ({ metadata }) => {
      metadata.finalizers = [];
    });

    expect(told).toEqual(['MODIFIED p 1002', 'DELETED p 1003']);
  });

  test('with a grace it is being deleted until it is removed without', () => {
    const store = new FakeStore();
    store.create('pods', 'evals', aPod());
    store.remove('pods', 'evals', 'p', { graceSeconds: 5 });
    expect(store.get('pods', 'evals', 'p')?.metadata.deletionGracePeriodSeconds).toBe(5);
    store.update('pods', 'evals', 'p', ({ status }) => {
      status.phase = 'Failed';
    });
    expect(store.get('pods', 'evals', 'p')?.status.phase).toBe('Failed');
    store.remove('pods', 'evals', 'p');

    expect(store.list('pods')).toEqual([]);
  });

  test('listeners that change things are heard by all in the order of versions', () => {
    const store = new FakeStore();
    store.onChange(({ type }) => {
      if (type === 'ADDED') {
        store.update('pods', 'evals', 'p', ({ status }) => {
          status.phase = 'Running';
        });
      }
    });
    const told = heard(store);
    store.create('pods', 'evals', aPod());

    expect(told).toEqual(['ADDED p 1001', 'MODIFIED p 1002']);
  });

  test('what happened is forgotten after a while', () => {
    const store = new FakeStore(4);
    for (const name of ['a', 'b', 'c', 'd', 'e']) store.create('pods', 'evals', aPod({ name }));

    expect(store.since(1001)).toBe('too old');
    expect(store.since(1003)).toMatchObject([{ version: 1004 }, { version: 1005 }]);
    store.compact();
    expect(store.since(1003)).toBe('too old');
    expect(store.since(1005)).toEqual([]);
  });
});
