const LONGEST_PATH = 255;
/** What a name of one part without a registry is short for. */
const OFFICIAL = 'library/';
const HOST =
  /^([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9A-Fa-f:]+\])(:\d+)?$/;
const PART = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^(sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})$/;
/** So looks the id of an image that is there already, which no registry knows. */
const ID = /^[0-9a-f]{64}$/;

const FORM = 'an image is [registry/]name[:tag][@digest]';

/** Why no container engine can parse the name of an image. */
export function imageFault(image: string): string | undefined {
  const [tagged = '', digest, ...rest] = image.split('@');
  if (rest.length > 0 || (digest !== undefined && !DIGEST.test(digest))) {
    return `has a digest that is none: ${FORM}, and a digest is sha256: and 64 digits of a-f 0-9`;
  }
  const [, name = '', tag] = /^(.*?)(?::([^/]*))?$/s.exec(tagged) ?? [];
  if (tag !== undefined && !TAG.test(tag))
    return `has a tag that is none: a tag is at most 128 of A-Z a-z 0-9 _ . - and begins with none of the last two`;
  if (ID.test(image)) return 'is the id of an image: give its name';
  const { host, path } = partsOf(name);
  if (host !== undefined && !HOST.test(host)) return `has a registry that is no host and port: ${FORM}`;
  if (path.split('/').every((part) => PART.test(part))) {
    const longest = LONGEST_PATH - (host === undefined && !path.includes('/') ? OFFICIAL.length : 0);
    return path.length > longest ? `has a name of more than ${longest} characters` : undefined;
  }
  if (/[A-Z]/.test(path)) return `has capital letters in its name: ${FORM}, and a name has small letters only`;
  return `cannot be parsed: ${FORM}, and a name is of a-z 0-9 and single . _ - between them`;
}

/** The part before the first slash is a host if it has what no part of a name has. */
function partsOf(name: string): { host?: string; path: string } {
  const at = name.indexOf('/');
  const first = name.slice(0, Math.max(0, at));
  if (at < 0 || !(/[.:A-Z]/.test(first) || first === 'localhost')) return { path: name };
  return { host: first, path: name.slice(at + 1) };
}
