import type { FakeImages } from './fake-images.js';
import type { KubeletPace } from './fake-kubelet-pace.js';
import type { Container } from './fake-objects.js';

/** What the pull of an image goes by, and whom it tells. */
export interface Pulling {
  images: FakeImages;
  pace: KubeletPace;
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
  /** The container waits for this. */
  wait(reason: string, message: string): void;
  /** Ends early where the container is stopped. */
  pause(ms: number): Promise<void>;
  isStopping(): boolean;
}

/** One try. Whether the image is there. */
export async function pullImage(container: Container, pulling: Pulling): Promise<boolean> {
  const { images, pace, event, wait, pause } = pulling;
  const { image = '' } = container;
  const trouble = images.troubleOf(container);
  if (!trouble) {
    await arrived(image, pulling);
    return true;
  }
  const { reason, message } = trouble;
  if (reason === 'ErrImagePull') {
    event('Normal', 'Pulling', `Pulling image "${image}"`);
    event('Warning', 'Failed', `Failed to pull image "${image}": ${message}`);
  } else {
    event('Warning', reason === 'InvalidImageName' ? 'InspectFailed' : reason, message);
  }
  event('Warning', 'Failed', `Error: ${reason}`);
  wait(reason, message);
  if (reason !== 'ErrImagePull') await pause(pace.retryMs);
  else await backOff(image, message, pulling);
  return false;
}

async function arrived(image: string, { images, event, pause }: Pulling): Promise<void> {
  const rule = images.rules.get(image);
  if (typeof rule !== 'object') {
    event('Normal', 'Pulled', `Container image "${image}" already present on machine`);
    return;
  }
  event('Normal', 'Pulling', `Pulling image "${image}"`);
  await pause(rule.takesMs);
  event('Normal', 'Pulled', `Successfully pulled image "${image}" in ${rule.takesMs}ms`);
  images.rules.delete(image);
}

async function backOff(image: string, message: string, pulling: Pulling): Promise<void> {
  const { pace, event, wait, pause, isStopping } = pulling;
  await pause(pace.pullErrorMs);
  if (isStopping()) return;
  event('Normal', 'BackOff', `Back-off pulling image "${image}"`);
  event('Warning', 'Failed', 'Error: ImagePullBackOff');
  wait('ImagePullBackOff', `Back-off pulling image "${image}": ErrImagePull: ${message}`);
  await pause(pace.pullBackOffMs);
}
