import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { isLoopback } from './loopback.js';

/** A key is told nowhere, so what is wrong with it is said without it. */
const key = z
  .string()
  .regex(/^[\x21-\x7e]{32,200}$/, 'is not 32 to 200 characters without spaces: `openssl rand -base64 32` makes one')
  .optional();

const issuer = z.url({ error: 'is not an http(s) URL' }).refine((text) => {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}, 'is not an https URL (http only on this machine)');

const networks = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((part) => part.trim() || []))
  .refine((list) => list.every(isNetwork), 'is not a list of addresses and networks, as 10.0.0.0/8,192.0.2.1');

/** Who is let in, and how they prove who they are. */
export const ACCESS_ENV = {
  /** Whether everybody is asked who they are. Absent: as soon as there is a key or an issuer. */
  EVERDICT_AUTH: z.enum(['on', 'off'], { error: 'is neither on nor off' }).optional(),
  EVERDICT_OPERATOR_KEY: key,
  /** Becomes the first key of an admin of `default`, while there is none. */
  EVERDICT_BOOTSTRAP_KEY: key,
  /** Whose tokens people come with, and for whom those have to be. */
  EVERDICT_OIDC_ISSUER: issuer.optional(),
  EVERDICT_OIDC_AUDIENCE: z.string().min(1).optional(),
  /** For whom the tokens of GitHub's workflows have to be; without it they are not accepted. */
  EVERDICT_GITHUB_AUDIENCE: z.string().min(1).optional(),
  EVERDICT_GITHUB_ISSUER: issuer.default('https://token.actions.githubusercontent.com'),
  /** Whether `/metrics` answers without the operator key. */
  EVERDICT_METRICS_OPEN: z
    .enum(['0', '1', 'true', 'false'])
    .default('0')
    .transform((value) => value === '1' || value === 'true'),
  /** Those whose X-Forwarded-For is believed. */
  EVERDICT_TRUSTED_PROXIES: networks,
};

function isNetwork(text: string): boolean {
  const [address = '', length] = text.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  try {
    new BlockList().addSubnet(address, length === undefined ? 32 : Number(length), family);
    return /^[^/]+(\/\d{1,3})?$/.test(text);
  } catch {
    return false;
  }
}

type Audience = { EVERDICT_OIDC_ISSUER?: string; EVERDICT_OIDC_AUDIENCE?: string };

export const hasAudience = ({ EVERDICT_OIDC_ISSUER: given, EVERDICT_OIDC_AUDIENCE: audience }: Audience): boolean =>
  given === undefined || audience !== undefined;

export const NO_AUDIENCE = {
  path: ['EVERDICT_OIDC_AUDIENCE'],
  error: 'is not set: tokens that were made for others would be accepted',
};
