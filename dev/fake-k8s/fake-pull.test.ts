import { hasEnded, isWaiting, KubeletLab, sh, stateOf } from '../../test/kubelet-lab.js';

let lab: KubeletLab;

beforeEach(() => {
  lab = new KubeletLab();
});

afterEach(() => lab.close());

test.each([
  ['UPPER:1', undefined, 'InvalidImageName', /repository name \(library\/UPPER\) must be lowercase$/],
  ['a b', undefined, 'InvalidImageName', /couldn't parse image name "a b": invalid reference format$/],
  ['r.example/x:1', 'Never', 'ErrImageNeverPull', /^Container image "r.example\/x:1" is not present with pull policy/],
])('an image that cannot be had is told at once: %s', async (image, imagePullPolicy, reason, text) => {
  lab.kubelets.images.rules.set('r.example/x:1', 'not-found');
  lab.place('p', { containers: [sh('exit 0', { image, imagePullPolicy })] });
  expect(stateOf(await lab.until('p', isWaiting(reason)))?.waiting?.message).toMatch(text);
});

test('a pull that fails and its back-off alternate, until the image is there', async () => {
  lab.kubelets.images.rules.set('r.example/x:1', 'unknown-host');
  lab.place('p', { containers: [sh('exit 0', { image: 'r.example/x:1' })] });
  const failure =
    'failed to pull and unpack image "r.example/x:1": failed to resolve reference "r.example/x:1": failed to do ' +
    'request: Head "https://r.example/v2/x/manifests/1": dial tcp: lookup r.example: no such host';
  const failed = await lab.until('p', isWaiting('ErrImagePull'));
  expect(stateOf(failed)?.waiting?.message).toBe(failure);
  const backedOff = await lab.until('p', isWaiting('ImagePullBackOff'));
  expect(stateOf(backedOff)?.waiting?.message).toBe(`Back-off pulling image "r.example/x:1": ErrImagePull: ${failure}`);
  await lab.until('p', isWaiting('ErrImagePull'));
  lab.kubelets.images.rules.clear();
  expect((await lab.until('p', hasEnded)).status.phase).toBe('Succeeded');
  const failures = lab.store.list('events').find(({ message }) => message === 'Error: ErrImagePull');
  expect(failures?.count).toBeGreaterThan(1);
});
