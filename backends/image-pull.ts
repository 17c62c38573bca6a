export interface PullTrouble {
  /** With the registry's words and, where there is one, the way out. */
  text: string;
  /** No further try can mend it. */
  isFinal: boolean;
}

/** These come first: a registry that is asked too often says so in words of access, too. */
const TRANSIENT =
  /too ?many ?requests|rate limit|\b429\b|time[d ]?-? ?out|deadline exceeded|canceled|TLS|x509|certificate|connection (refused|reset)|broken pipe|\bEOF\b|no such host|server misbehaving|temporary failure|unreachable|no route|no space left|unexpected media type|\b5\d\d\b|Internal Server Error|Bad Gateway|Service Unavailable/i;
const FINAL =
  /unauthori[sz]ed|authentication required|no basic auth|denied|forbidden|not found|manifest unknown|name unknown|does not exist|invalid reference|must be lowercase|could not parse|no matching manifest|invalid (repository|tag|image)/i;

const LOGIN = /unauthori[sz]ed|authentication required|no basic auth|denied|forbidden/i;

/** Whether what was said of a pull means that no further try can mend it. */
export function isFinalRefusal(said: string, image: string): boolean {
  const why = withoutName(said, image);
  return !TRANSIENT.test(why) && FINAL.test(why);
}

/** The way out, of an image that its registry keeps. */
export const wayOfLogin = (said: string, image: string): string | undefined =>
  LOGIN.test(withoutName(said, image))
    ? 'if its registry asks for a login, give a `registry` secret for that host'
    : undefined;

/** An image may be called anything: what it is called says nothing of why. */
function withoutName(said: string, image: string): string {
  const name = image.replace(/[:@][^/]*$/, '').replace(/^.*\//, '');
  if (name === '') return said;
  const isName = (word: string): boolean =>
    word.split('/').some((part) => part === name || part.startsWith(`${name}:`) || part.startsWith(`${name}@`));
  const words = said.split(/[\s"'`(),;]+/);
  return words.filter((word) => !isName(word.replace(/[.:]+$/, ''))).join(' ');
}

/** Whether an image names the registry that it is of. */
export const namesRegistry = (image: string): boolean => {
  const [host = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]|^localhost$/.test(host);
};
