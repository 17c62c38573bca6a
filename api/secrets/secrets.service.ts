import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { type FieldError, PlatformError } from '../../contracts/errors.js';
import {
  type Rotation,
  type SecretInput,
  SecretName,
  type SecretStored,
  type SecretView,
} from '../../contracts/secret.js';
import { hostOf, originAlone } from '../../policy/origins.js';
import { isMasked, SHORTEST_MASKED } from '../../policy/redact.js';
import { type SecretRecord, SecretStore } from '../../secrets/secret.store.js';
import { type Naming, SecretNamings } from '../../secrets/secret-namings.js';
import { SecretRotation } from '../../secrets/secret-rotation.js';
import { noteAudit } from '../../store/audit-draft.js';
import { contentHash } from '../../store/content-hash.js';
import type { Principal } from '../common/caller.js';
import { decodeCursor, type ListQuery, type Page, toPage } from '../common/cursor.js';
import { notFound } from '../common/registration.js';
import { invalid } from '../common/schema.pipe.js';

/** Runtimes and harnesses that a message lists. */
const SHOWN = 10;

@Injectable()
export class SecretsService {
  constructor(
    private readonly secrets: SecretStore,
    private readonly namings: SecretNamings,
    private readonly rotation: SecretRotation,
  ) {}

  async put(
    { workspace, subject }: Principal,
    name: string,
    input: SecretInput,
  ): Promise<{ isNew: boolean; stored: SecretStored }> {
    const { use, value } = input;
    const secret = { name, use, value, bindings: bindingsOf(input) };
    const earlier = await this.secrets.find(workspace, name);
    if (earlier) noteAudit({ before: hashOf(earlier) });
    const outcome = await this.secrets.put(workspace, secret, subject);
    const record = await this.secrets.find(workspace, name);
    const warnings = warningsOf(input, await this.namings.of(workspace, name));
    if (record) noteAudit({ after: hashOf(record) });
    // One that was deleted at the same moment was set before.
    const stored = record ?? { ...secret, updatedBy: subject, updatedAt: new Date() };
    return { isNew: outcome === 'created', stored: { ...viewOf(stored), warnings } };
  }

  async list(workspace: string, { cursor, limit }: ListQuery): Promise<Page<SecretView>> {
    const after = decodeCursor(z.tuple([SecretName]), cursor)?.[0];
    const found = await this.secrets.list(workspace, after, limit + 1);
    return toPage(found, limit, viewOf, ({ name }) => [name]);
  }

  /** Refuses while somebody names it, unless that is what is wanted. */
  async remove(workspace: string, name: string, isForced: boolean): Promise<void> {
    const naming = isForced ? [] : await this.namings.of(workspace, name);
    if (naming.length > 0 && (await this.secrets.find(workspace, name))) {
      const message = `secret ${name} is named by ${listed(naming)}: register versions without it, or force the deletion`;
      throw new PlatformError('CONFLICT', message, { errors: naming.map(errorOf) });
    }
    const earlier = await this.secrets.find(workspace, name);
    if (!(await this.secrets.remove(workspace, name))) throw notFound('secret', name);
    if (earlier) noteAudit({ before: hashOf(earlier) });
  }

  rotate(): Promise<Rotation> {
    return this.rotation.rotate();
  }
}

/** Of what a secret is for, and which of its values it is: a hash of the value would let it be guessed. */
const hashOf = ({ use, bindings, updatedAt }: SecretRecord): string =>
  contentHash({ use, bindings, updatedAt: updatedAt.toISOString() });

const errorOf = ({ kind, ref }: Naming): FieldError => ({ path: '', message: `${kind} ${ref} names it` });

function listed(naming: readonly Naming[]): string {
  const shown = naming.slice(0, SHOWN).map(({ kind, ref }) => `${kind} ${ref}`);
  return naming.length > SHOWN ? `${shown.join(', ')} and ${naming.length - SHOWN} more` : shown.join(', ');
}

function viewOf({ name, use, bindings, updatedBy, updatedAt }: SecretRecord): SecretView {
  const bound = use === 'cluster' ? { origins: bindings } : use === 'env' ? {} : { hosts: bindings };
  return { name, use, ...bound, updatedBy, updatedAt: updatedAt.toISOString() };
}

/** Where a secret may be sent to, in the form that is compared. */
function bindingsOf(input: SecretInput): string[] {
  switch (input.use) {
    case 'cluster':
      return normalized(input.origins, 'origins', originAlone, 'scheme, host and port, as https://nomad.example:4646');
    case 'registry':
    case 'git':
      return normalized(
        input.hosts,
        'hosts',
        hostOf,
        'a host, with its port if it is not that of https, as git.example',
      );
    case 'env':
      return [];
  }
}

function normalized(
  given: readonly string[],
  path: string,
  form: (text: string) => string | undefined,
  wanted: string,
): string[] {
  const forms = given.map(form);
  // What was given is not repeated: it may hold a credential.
  const errors = forms.flatMap((one, at) =>
    one === undefined ? [{ path: `${path}[${at}]`, message: `is not ${wanted}` }] : [],
  );
  if (errors.length > 0) throw invalid('the body', errors);
  return [...new Set(forms.filter((one) => one !== undefined))].toSorted();
}

function warningsOf({ use, value }: SecretInput, naming: readonly Naming[]): string[] {
  const strangers = naming.filter((each) => each.use !== use);
  return [
    ...(strangers.length > 0 ? [`it is for ${use} now, and ${listed(strangers)} cannot use it`] : []),
    ...(isMasked(value) ? [] : [`it is shorter than ${SHORTEST_MASKED} bytes, so it is not masked in what jobs print`]),
  ];
}
