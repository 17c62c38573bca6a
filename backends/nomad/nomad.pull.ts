import { eventsOf, quoted, textOf } from './nomad.evidence.js';
import type { JobAllocation } from './nomad.replies.js';

export interface PullTrouble {
  /** With the registry's words and, where there is one, the way out. */
  text: string;
  /** No further try can mend it. */
  isFinal: boolean;
}

const PULL = /\bpull|invalid reference|\bimage\b.{0,500} (not found|does not exist)/is;
const IMAGE = /Failed to pull `([^`]{1,512})`/;
/** These come first: a registry that is asked too often says so in words of access, too. */
const TRANSIENT =
  /too ?many ?requests|rate limit|\b429\b|time[d ]?-? ?out|deadline exceeded|canceled|TLS|x509|certificate|connection (refused|reset)|broken pipe|\bEOF\b|no such host|server misbehaving|temporary failure|unreachable|no route|no space left|\b5\d\d\b|Internal Server Error|Bad Gateway|Service Unavailable/i;
const FINAL =
  /unauthori[sz]ed|authentication required|no basic auth|denied|forbidden|not found|manifest unknown|name unknown|does not exist|invalid reference|must be lowercase|could not parse|no matching manifest|invalid (repository|tag|image)/i;

/** Of an image that only nodes have, and no registry. */
const LOCAL_IMAGE =
  'if it was built on the nodes, their garbage collection has removed it: set docker `gc { image_delay = "72h" }` on the clients, keep a container of it on each node, or push it to a registry';
const PRIVATE_IMAGE = 'if its registry asks for a login, give a `registry` secret for that host';

/** What keeps the image of an allocation away, by its newest event of that kind. */
export function pullTroubleOf(allocation: JobAllocation): PullTrouble | undefined {
  const events = eventsOf(allocation);
  const at = events.findLastIndex((event) => event.Type === 'Driver Failure' && PULL.test(textOf(event)));
  const event = events[at];
  if (!event || events.slice(at).some(({ Type }) => Type === 'Started')) return undefined;
  const said = textOf(event);
  const image = IMAGE.exec(said)?.[1] ?? '';
  const why = withoutName(said, image);
  const isFinal = !TRANSIENT.test(why) && FINAL.test(why);
  const way = isFinal ? wayOut(why, image) : undefined;
  return { text: `the image cannot be pulled: ${quoted(said)}${way ? `; ${way}` : ''}`, isFinal };
}

/** An image may be called anything: what it is called says nothing of why. */
function withoutName(said: string, image: string): string {
  const name = image.replace(/[:@][^/]*$/, '').replace(/^.*\//, '');
  if (name === '') return said;
  const isName = (word: string): boolean =>
    word.split('/').some((part) => part === name || part.startsWith(`${name}:`) || part.startsWith(`${name}@`));
  const words = said.split(/[\s"'`(),;]+/);
  return words.filter((word) => !isName(word.replace(/[.:]+$/, ''))).join(' ');
}

function wayOut(why: string, image: string): string | undefined {
  if (/pull access denied/i.test(why) && !namesRegistry(image)) return LOCAL_IMAGE;
  return /unauthori[sz]ed|authentication required|no basic auth|denied|forbidden/i.test(why)
    ? PRIVATE_IMAGE
    : undefined;
}

const namesRegistry = (image: string): boolean => {
  const [host = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]|^localhost$/.test(host);
};
