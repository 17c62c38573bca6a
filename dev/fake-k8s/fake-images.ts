import { createHash } from 'node:crypto';
import type { Container } from './fake-objects.js';

/** What a registry does when an image is asked for: a failure, or an image after so long. */
export type ImageRule = 'unknown-host' | 'not-found' | 'unauthorized' | 'time-out' | { takesMs: number };

/** Why a container waits for its image, as its status says it. */
export interface ImageTrouble {
  reason: 'ErrImagePull' | 'InvalidImageName' | 'ErrImageNeverPull';
  message: string;
}

const NAME = /^(?:[\w.-]+(?::\d+)?\/)?[a-zA-Z0-9]+(?:[._/-]+[a-zA-Z0-9]+)*(?::[\w][\w.-]*)?(?:@sha256:[0-9a-f]{64})?$/;

/** Every image is there but those that a rule says otherwise of. Names are judged as they are written. */
export class FakeImages {
  readonly rules = new Map<string, ImageRule>();

  /** As a node names an image that it has from a registry: by its digest. */
  idOf(image: string): string {
    const [, given] = /@(sha256:[0-9a-f]{64})$/.exec(image) ?? [];
    const [, repository = ''] = /^([^:@]*)/.exec(withoutHost(image)) ?? [];
    const whole = hostOf(image) === undefined && !repository.includes('/') ? `library/${repository}` : repository;
    const digest = given ?? `sha256:${createHash('sha256').update(image).digest('hex')}`;
    return `${hostOf(image) ?? 'docker.io'}/${whole}@${digest}`;
  }

  troubleOf({ image = '', imagePullPolicy }: Container): ImageTrouble | undefined {
    const fault = nameFault(image);
    if (fault) {
      const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": ${fault}`;
      return { reason: 'InvalidImageName', message };
    }
    const rule = this.rules.get(image);
    if (rule === undefined || typeof rule === 'object') return undefined;
    if (imagePullPolicy === 'Never') {
      const message = `Container image "${image}" is not present with pull policy of Never`;
      return { reason: 'ErrImageNeverPull', message };
    }
    return { reason: 'ErrImagePull', message: failureOf(image, rule) };
  }
}

function nameFault(image: string): string | undefined {
  if (!NAME.test(image)) return 'invalid reference format';
  const [, repository = ''] = /^(.*?)(?::[\w][\w.-]*)?(?:@.*)?$/.exec(withoutHost(image)) ?? [];
  if (repository === repository.toLowerCase()) return undefined;
  const familiar = image.includes('/') ? repository : `library/${repository}`;
  return `invalid reference format: repository name (${familiar}) must be lowercase`;
}

const hostOf = (image: string): string | undefined => /^([^/]*[.:][^/]*|localhost)\//.exec(image)?.[1];

function withoutHost(image: string): string {
  const host = hostOf(image);
  return host === undefined ? image : image.slice(host.length + 1);
}

function failureOf(image: string, rule: Exclude<ImageRule, object>): string {
  const host = hostOf(image) ?? 'registry-1.docker.io';
  const [, repository = '', tag = 'latest'] = /^([^:@]*)[:@]?(.*)$/.exec(withoutHost(image)) ?? [];
  const asked = `failed to do request: Head "https://${host}/v2/${repository}/manifests/${tag || 'latest'}"`;
  const texts: Record<Exclude<ImageRule, object>, string> = {
    'unknown-host': `${asked}: dial tcp: lookup ${host.replace(/:.*/, '')}: no such host`,
    'time-out': `${asked}: dial tcp 192.0.2.1:443: i/o timeout`,
    'not-found': `${image}: not found`,
    unauthorized: 'failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized',
  };
  const code = rule === 'not-found' ? 'rpc error: code = NotFound desc = ' : '';
  return `${code}failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${texts[rule]}`;
}
