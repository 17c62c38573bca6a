import fc from 'fast-check';
import { allocationName } from '../../policy/naming.js';
import { isOurs, labelsOf, labelValue, ownerOf, selectorOf } from './k8s.labels.js';
import { networkPolicyName, payloadSecretName, pullSecretName } from './k8s.names.js';

const owner = {
  deployment: 'lab',
  workspaceId: 'default',
  scorecardId: 'sc_1',
  runId: 'run_01',
  caseId: 'case-1',
  attempt: 2,
  expiresAt: Date.UTC(2026, 0, 2) + 7,
};

/** As Kubernetes has it. */
const VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])$/;

/** Near the border of what is legal, and what looks like a hash. */
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.stringMatching(/^[-_.A-Za-z0-9]{0,64}$/),
  fc.stringMatching(/^sha256-[0-9a-f]{56}$/),
);

describe('labels', () => {
  test.each([['case-1'], ['Web_Case'], ['a.b-c_d'], ['x'.repeat(63)], ['sha256-00']])('K15 %s stays itself', (text) => {
    expect(labelValue(text)).toBe(text);
  });

  test.each([
    ['team/a:b'],
    ['x'.repeat(80)],
    ['é🙂'],
    ['ends_'],
    ['.starts'],
    [''],
    ['Web_Case#1'],
    [`sha256-${'0'.repeat(56)}`],
  ])('K15 %s has a hash', (text) => {
    expect(labelValue(text)).toMatch(/^sha256-[0-9a-f]{56}$/);
    expect(labelValue(text)).not.toBe(text);
  });

  test('K15 any text has a legal value, and its own', () => {
    fc.assert(fc.property(texts, (text) => VALUE.test(labelValue(text))));
    fc.assert(fc.property(texts, texts, (one, other) => (labelValue(one) === labelValue(other)) === (one === other)));
    // What stands for a text is no other text's, even where that is itself such a value.
    fc.assert(
      fc.property(texts, (text) => labelValue(text) === text || labelValue(labelValue(text)) !== labelValue(text)),
    );
  });

  test('E43 twins that begin alike are told apart', () => {
    const twins = ['a', 'b'].map((end) => labelsOf({ ...owner, caseId: `${'x'.repeat(60)}-and-so-on-${end}` }));
    expect(new Set(twins.map((labels) => labels['everdict.dev/case'])).size).toBe(2);
  });
});

describe('names', () => {
  const base32 = fc.stringMatching(/^[0-9a-hjkmnp-tv-z]{26}$/);
  const runs = fc.oneof(
    base32.map((id) => `run_${id}`),
    fc.tuple(base32, fc.nat(999_999)).map(([id, ordinal]) => `sc_${id}.${ordinal}`),
  );
  const deployments = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,14}[a-z0-9])?$/);

  test('E43 of an attempt are DNS-1123 labels of at most 63 characters, and legal values of labels', () => {
    fc.assert(
      fc.property(deployments, runs, fc.nat(999_999), (deployment, runId, attempt) => {
        const named = { name: allocationName(deployment, runId, attempt) };
        const names = [payloadSecretName(named), pullSecretName(named), networkPolicyName(named)];
        for (const name of [named.name, ...names]) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
        expect(payloadSecretName(named)).not.toBe(pullSecretName(named));
      }),
    );
  });
});

describe('isOurs', () => {
  test.each([
    ['the same', {}, true],
    ['another try of it, later', { expiresAt: owner.expiresAt + 1 }, true],
    ['another attempt', { attempt: 3 }, false],
    ['another run', { runId: 'run_02' }, false],
    ['another workspace', { workspaceId: 'other' }, false],
    ['another deployment', { deployment: 'prod' }, false],
  ])('%s: %s', (_, parts, want) => {
    expect(isOurs({ ...labelsOf({ ...owner, ...parts }), more: 'of others' }, owner)).toBe(want);
  });

  test.each([[undefined], [{}], [{ app: 'everdict' }]])('labels %j are not', (labels) => {
    expect(isOurs(labels, owner)).toBe(false);
  });

  test('made by a version with fewer labels, or others, it is still ours', () => {
    const { 'everdict.dev/scorecard': _, ...fewer } = labelsOf(owner);
    expect(isOurs({ ...fewer, 'everdict.dev/case': 'written otherwise' }, owner)).toBe(true);
  });

  test('a run without a scorecard has none in its labels', () => {
    expect(labelsOf({ ...owner, scorecardId: undefined })).not.toHaveProperty('everdict.dev/scorecard');
  });
});

test('what is of a deployment is selected, or one allocation of it', () => {
  expect(selectorOf('lab')).toBe('app=everdict,everdict.dev/deployment=lab');
  expect(selectorOf('lab', 'lab-run-01-2')).toBe(`${selectorOf('lab')},everdict.dev/allocation=lab-run-01-2`);
});

describe('ownerOf', () => {
  const named = { 'everdict.dev/allocation': 'lab-run-01-2' };
  const labels = { ...labelsOf(owner), ...named };

  test('reads what was written, to the millisecond', () => {
    const { deployment, workspaceId, expiresAt } = owner;
    expect(ownerOf(labels)).toEqual({ allocation: 'lab-run-01-2', deployment, workspaceId, expiresAt });
  });

  test('knows a workspace whose name is no legal value by its annotation', () => {
    const odd = { ...labelsOf({ ...owner, workspaceId: 'odd_' }), ...named };
    expect(ownerOf(odd, { 'everdict.dev/workspace': 'odd_' })).toMatchObject({ workspaceId: 'odd_' });
  });

  test.each([['soon'], [''], ['2026-13-45T99.00.00.000Z']])('an expiry %j is none', (expires) => {
    expect(ownerOf({ ...labels, 'everdict.dev/expires': expires })).not.toHaveProperty('expiresAt');
  });

  test.each([
    ['no labels', undefined],
    ['those of another app', { ...labels, app: 'other' }],
    ['none of an allocation', labelsOf(owner)],
  ])('%s say nothing', (_, given) => {
    expect(ownerOf(given)).toBeUndefined();
  });
});
