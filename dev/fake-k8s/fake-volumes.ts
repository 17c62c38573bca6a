import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Container, Secret, Volume } from './fake-objects.js';

/** Why a volume cannot be had yet. */
export class VolumeMissing extends Error {}

export type SecretOf = (name: string) => Secret | undefined;

const DEFAULT_MODE = 0o644;
const ATOMIC = '..now';
const LINK = '..data';

/** Makes what a pod mounts, in directories of this machine. Throws `VolumeMissing` while a secret or a key is not there. */
export function makeVolumes(directory: string, volumes: readonly Volume[], secretOf: SecretOf): void {
  for (const { name, secret, emptyDir } of volumes) {
    const path = join(directory, name);
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o777);
    if (secret) writeSecret(path, name, secret, secretOf);
    else if (!emptyDir) throw new VolumeMissing(`MountVolume.SetUp failed for volume "${name}" : the fake has no such`);
  }
}

/** Files behind links, as they are in a container: `x` leads to `..data/x`. */
function writeSecret(path: string, volume: string, source: NonNullable<Volume['secret']>, secretOf: SecretOf): void {
  const failed = (why: string) => new VolumeMissing(`MountVolume.SetUp failed for volume "${volume}" : ${why}`);
  const secret = secretOf(source.secretName);
  if (!secret && !source.optional) throw failed(`secret "${source.secretName}" not found`);
  const data = secret?.data ?? {};
  const items = source.items ?? Object.keys(data).map((key) => ({ key, path: key, mode: undefined }));
  mkdirSync(join(path, ATOMIC));
  symlinkSync(ATOMIC, join(path, LINK));
  for (const { key, path: file, mode } of items) {
    const text = data[key];
    if (text === undefined && source.optional) continue;
    if (text === undefined) throw failed(`references non-existent secret key: ${key}`);
    const real = join(path, ATOMIC, file);
    mkdirSync(dirname(real), { recursive: true });
    writeFileSync(real, Buffer.from(text, 'base64'));
    chmodSync(real, mode ?? source.defaultMode ?? DEFAULT_MODE);
  }
  const tops = new Set(items.map(({ path: file }) => file.split('/')[0] ?? file));
  for (const top of tops) symlinkSync(join(LINK, top), join(path, top));
}

/**
 * A process of this machine has no mounts: paths into volumes are put in place of the paths they are mounted at, in
 * every text that a container is started with.
 */
export function pathsOf(directory: string, { volumeMounts = [] }: Container): (text: string) => string {
  const mounts = volumeMounts
    .map(({ name, mountPath, subPath }) => ({
      at: mountPath.replace(/\/+$/, ''),
      real: join(directory, name, subPath ?? ''),
    }))
    .sort((a, b) => b.at.length - a.at.length);
  const patterns = mounts.map(({ at, real }) => ({
    pattern: new RegExp(`(?<![\\w./-])${escaped(at)}(?![\\w.-])`, 'g'),
    real,
  }));
  return (text) => patterns.reduce((result, { pattern, real }) => result.replace(pattern, () => real), text);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
