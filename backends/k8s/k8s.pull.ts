import type { AttemptFailure } from '../../contracts/attempt.js';
import { quoted } from '../cluster-text.js';
import { isFinalRefusal, type PullTrouble, wayOfLogin } from '../image-pull.js';
import { isOn } from './k8s.evidence.js';
import type { ContainerStatus, Pod } from './k8s.replies.js';

/** The first two take turns, and mean the same. */
const PULLING: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'RegistryUnavailable',
  'ImageInspectError',
  'SignatureValidationFailed',
]);
/** Its node asks no registry. */
const UNASKED: ReadonlySet<string> = new Set(['InvalidImageName', 'ErrImageNeverPull']);
/** The same, as older nodes say it. */
const NO_NAME = /invalid reference format|must be lowercase/;

export interface ImageTrouble extends PullTrouble {
  /** No registry was asked, and none will be: there is nothing to wait for. */
  isUnasked: boolean;
}

/** What is put in front of what the registry said. */
const IN_FRONT = /^Back-off pulling image "[^"]*"(: )?(ErrImagePull: )?|^rpc error: code = \w+ desc = /;
const UNPACKED =
  /^failed to pull and unpack image "[^"]*": (failed to (resolve reference|copy|extract layer)( "[^"]*")?: )?/;

/** What keeps an image of a pod away: that of its own container, or of one that comes before it. */
export function pullTroubleOf(pod: Pod): ImageTrouble | undefined {
  const { initContainerStatuses, containerStatuses } = pod.status;
  return [...initContainerStatuses, ...containerStatuses].map((status) => troubleOf(status, pod)).find(Boolean);
}

function troubleOf({ name, image: shown = '', state }: ContainerStatus, pod: Pod): ImageTrouble | undefined {
  const { reason = '', message = '' } = state.waiting ?? {};
  if (!PULLING.has(reason) && !UNASKED.has(reason)) return undefined;
  const image = pod.spec.containers.find((container) => container.name === name)?.image ?? shown;
  const said = cleaned(message);
  const isUnasked = UNASKED.has(reason) || NO_NAME.test(said);
  const isFinal = isUnasked || isFinalRefusal(said, image);
  const why = said === '' ? reason : quoted(said);
  const way = isFinal ? wayOut(reason, said, image) : undefined;
  return {
    text: `the image ${quoted(image)} cannot be pulled on ${isOn(pod)}: ${why}${way ? `; ${way}` : ''}`,
    isFinal,
    isUnasked,
  };
}

/** A tag may be a number. */
const ASKED_FOR = / \[(manifests|blobs) [^\]]*\]/g;

/** What the registry said, alike whether its node pulls or waits for the next try. */
function cleaned(message: string): string {
  let said = message.trim();
  for (let before = ''; before !== said; ) {
    before = said;
    said = said.replace(IN_FRONT, '').replace(UNPACKED, '');
  }
  return said.replace(ASKED_FOR, '');
}

function wayOut(reason: string, said: string, image: string): string | undefined {
  if (NO_NAME.test(said) || reason === 'InvalidImageName')
    return 'give `image` a name that a registry can have, in lower case';
  if (reason === 'ErrImageNeverPull') return 'load it on every node, or push it to a registry';
  return wayOfLogin(said, image);
}

/** Of an image that was waited for, and does not come: what a registry says may pass, and its node asks again. */
export const pullFailureOf = ({ text, isFinal }: PullTrouble): AttemptFailure => ({
  code: isFinal ? 'IMAGE_UNAVAILABLE' : 'IMAGE_PULL_FAILED',
  message: text,
});
