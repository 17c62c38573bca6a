import { createHash } from 'node:crypto';
import { z } from 'zod';
import { CliError } from '../cli/failures.js';
import { jsonBody } from '../cli/http.client.js';
import type { Session } from '../cli/session.js';
import { refPath } from '../cli/spec-files.js';

const DIGEST = /@sha256:([0-9a-f]{64})$/;
const TAG_LETTERS = 16;
/** Parts of a semantic version: release, pre-release, build. */
const SEMVER = /^(\d+\.\d+\.\d+)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/;

/** A harness, as far as we look; the rest of it is passed on as it is. */
const Harness = z.looseObject({ id: z.string(), version: z.string(), image: z.string().optional() });
type Harness = z.infer<typeof Harness>;

interface Pin {
  image: string;
  isTagAllowed: boolean;
}

/**
 * Registers the harness with another image and returns how to ask for it. Its version sorts below the one it is made of
 * and below that one's pre-releases, so that it never becomes the latest.
 */
export async function pinImage(session: Session, ref: string, pin: Pin): Promise<string> {
  const letters = lettersOf(pin);
  const { reply: spec } = await session.client.get(refPath('harnesses', ref), Harness);
  if (spec.image === pin.image) return `${spec.id}@${spec.version}`;
  const version = pinnedVersion(spec, letters);
  await registerPinned(session, { ...spec, version, image: pin.image });
  return `${spec.id}@${version}`;
}

/** A workflow that may not register may use what somebody else registered. */
async function registerPinned(session: Session, spec: Harness): Promise<void> {
  const name = `${spec.id}@${spec.version}`;
  try {
    await session.client.post('/harnesses', Harness, { body: jsonBody(spec) });
  } catch (error) {
    if (!isProblem(error, 'FORBIDDEN')) throw error;
    if (await isRegistered(session, spec)) return;
    throw new Error(
      `the image is pinned by registering ${name}, which CI may not: set api-key to the key of a member, ` +
        `or have a member register ${name} with this image before`,
    );
  }
}

async function isRegistered(session: Session, { id, version, image }: Harness): Promise<boolean> {
  try {
    const { reply } = await session.client.get(refPath('harnesses', `${id}@${version}`), Harness);
    return reply.image === image;
  } catch (error) {
    if (isProblem(error, 'NOT_FOUND')) return false;
    throw error;
  }
}

const isProblem = (error: unknown, code: string): boolean => error instanceof CliError && error.problem?.code === code;

function lettersOf({ image, isTagAllowed }: Pin): string {
  const digest = DIGEST.exec(image)?.[1];
  if (digest !== undefined) return digest.slice(0, TAG_LETTERS);
  if (isTagAllowed) return createHash('sha256').update(image).digest('hex').slice(0, TAG_LETTERS);
  throw new Error(
    `the input image is ${JSON.stringify(image)}, which names no digest and can be another image tomorrow: ` +
      'write name@sha256:…, as the step that pushed it says, or set allow-mutable-image to true',
  );
}

export function pinnedVersion({ id, version }: Pick<Harness, 'id' | 'version'>, letters: string): string {
  const [, release, pre, build] = SEMVER.exec(version) ?? [];
  if (release === undefined) {
    throw new Error(
      `the input image needs a harness with a semantic version, as 1.0.0, and ${id} has ${version}: ` +
        'with another one the pinned version could become the latest',
    );
  }
  const parts = ['0', ...(pre === undefined ? [] : [pre]), `image-${letters}`];
  return `${release}-${parts.join('.')}${build === undefined ? '' : `+${build}`}`;
}
