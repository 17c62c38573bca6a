/** Changes a text so that no secret that this process has opened is in it. */
export type Mask = (text: string) => string;

const HIDDEN = '[redacted]';
const DEEPEST = 10;
const LONGEST = 20_000;

/** Names of fields and of parameters in URLs whose content is for nobody's eyes, whatever it is; `keyId` is none. */
const SENSITIVE =
  /(^|[-_.])(authorization|cookies?|passw(or)?d|passphrase|secrets?|tokens?|key|keys|value|nonce|credentials?|kubeconfig|signature|sig|code_verifier)$/i;
const SENSITIVE_CAMEL =
  /(Authorization|Cookie|Password|Passphrase|Secret|Token|Key|Credential|Kubeconfig|Signature)s?$/;

const isSensitive = (name: string): boolean => SENSITIVE.test(name) || SENSITIVE_CAMEL.test(name);

/** `user:password@` of a URL, up to the last `@` before its path. */
const USERINFO = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"']*@/gi;
const PARAMETER = /([?&;]([\w.~%-]{1,64})=)[^&;#\s"'<>]+/g;
const SCHEME = /\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi;
const HEADER =
  /\b((?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]{0,40}(?:token|key|secret))(["']?\s*[:=]\s*["']?)[^\s"',;]+/gi;

function hideInText(text: string): string {
  return text
    .slice(0, LONGEST)
    .replace(USERINFO, `$1${HIDDEN}@`)
    .replace(PARAMETER, (whole, head: string, name: string) => (isSensitive(name) ? head + HIDDEN : whole))
    .replace(SCHEME, `$1 ${HIDDEN}`)
    .replace(HEADER, `$1$2${HIDDEN}`);
}

/**
 * A copy of any value for a log: what has a sensitive name, what URLs carry as a login, and what `mask` knows is hidden,
 * however deep, also in errors and their causes. It can always be written as JSON.
 */
export function redact(value: unknown, mask: Mask): unknown {
  const above = new Set<object>();

  const visit = (node: unknown): unknown => {
    if (typeof node === 'string') return hideInText(mask(node));
    if (typeof node === 'bigint') return Number(node);
    if (typeof node === 'symbol' || typeof node === 'function') return String(node).slice(0, 100);
    if (typeof node !== 'object' || node === null) return node;
    if (node instanceof Date) return Number.isNaN(node.getTime()) ? null : node.toISOString();
    if (ArrayBuffer.isView(node)) return `[${node.byteLength} bytes]`;
    if (above.has(node) || above.size >= DEEPEST) return '[…]';
    above.add(node);
    const copy = Array.isArray(node) ? node.map(visit) : visitEntries(node);
    above.delete(node);
    return copy;
  };
  const visitEntries = (node: object): object => {
    const copy: [string, unknown][] = entriesOf(node).map(([name, child]) => [
      mask(name),
      isSensitive(name) && isContent(child) ? HIDDEN : visit(child),
    ]);
    return Object.fromEntries(copy);
  };
  return visit(value);
}

const isContent = (child: unknown): boolean => child !== undefined && child !== null && typeof child !== 'boolean';

/** Of an error, everything that helps to find its cause; only logs show it, answers never do. */
function entriesOf(node: object): [string, unknown][] {
  if (node instanceof Map) return [...node].map(([name, child]) => [String(name), child]);
  if (node instanceof Set) return [...node].map((child, index) => [String(index), child]);
  if (!(node instanceof Error)) return Object.entries(node);
  const { name, message, stack, cause } = node;
  const errors = node instanceof AggregateError ? { errors: node.errors } : {};
  return Object.entries({ name, message, stack, ...(cause === undefined ? {} : { cause }), ...errors });
}
