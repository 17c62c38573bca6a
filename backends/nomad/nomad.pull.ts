import { quoted } from '../cluster-text.js';
import { isFinalRefusal, namesRegistry, type PullTrouble, wayOfLogin } from '../image-pull.js';
import { eventsOf, textOf } from './nomad.evidence.js';
import type { JobAllocation } from './nomad.replies.js';

const PULL = /\bpull|invalid reference|\bimage\b.{0,500} (not found|does not exist)/is;
const IMAGE = /Failed to pull `([^`]{1,512})`/;

/** Of an image that only nodes have, and no registry. */
const LOCAL_IMAGE =
  'if it was built on the nodes, their garbage collection has removed it: set docker `gc { image_delay = "72h" }` on the clients, keep a container of it on each node, or push it to a registry';

/** What keeps the image of an allocation away, by its newest event of that kind. */
export function pullTroubleOf(allocation: JobAllocation): PullTrouble | undefined {
  const events = eventsOf(allocation);
  const at = events.findLastIndex((event) => event.Type === 'Driver Failure' && PULL.test(textOf(event)));
  const event = events[at];
  if (!event || events.slice(at).some(({ Type }) => Type === 'Started')) return undefined;
  const said = textOf(event);
  const image = IMAGE.exec(said)?.[1] ?? '';
  const isFinal = isFinalRefusal(said, image);
  const isLocal = /pull access denied/i.test(said) && !namesRegistry(image);
  const way = isFinal ? (isLocal ? LOCAL_IMAGE : wayOfLogin(said, image)) : undefined;
  return { text: `the image cannot be pulled: ${quoted(said)}${way ? `; ${way}` : ''}`, isFinal };
}
