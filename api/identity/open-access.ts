import { CiBindingStore } from '../../store/ci-binding.store.js';
import { KeyStore } from '../../store/key.store.js';
import { MemberStore } from '../../store/member.store.js';
import { WorkspaceStore } from '../../store/workspace.store.js';
import type { CommonParts } from '../common/common.module.js';
import { Access } from './access.js';
import { AccessMode } from './access-mode.js';
import { Authenticator } from './authenticator.js';

/** What every request has to pass, with the operator's first key stored. */
export async function openAccess({ env, dataSource, log }: CommonParts): Promise<Access> {
  const keys = new KeyStore(dataSource);
  if (env.EVERDICT_BOOTSTRAP_KEY !== undefined) {
    const first = await keys.bootstrap(env.EVERDICT_BOOTSTRAP_KEY);
    if (first) log.info('first admin key stored', { keyId: first.id });
  }
  const members = new MemberStore(dataSource);
  const authenticator = new Authenticator(env, { keys, members, bindings: new CiBindingStore(dataSource) }, log);
  const mode = await AccessMode.of(env, keys);
  return new Access(mode, authenticator, new WorkspaceStore(dataSource), members, env.EVERDICT_METRICS_OPEN);
}
