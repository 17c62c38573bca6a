import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../../config/loopback.js';
import { PlatformError } from '../../contracts/errors.js';
import type { Permission } from '../../contracts/identity.js';
import { SHARED_WORKSPACE } from '../../contracts/ids.js';
import { isAllowed } from '../../policy/permissions.js';
import type { MemberStore, Membership } from '../../store/member.store.js';
import type { WorkspaceStore } from '../../store/workspace.store.js';
import type { Identity, Principal } from '../common/caller.js';
import type { AccessRule } from '../common/requires.js';
import type { AccessMode } from './access-mode.js';
import type { Authenticator } from './authenticator.js';
import { forbidden } from './refusals.js';
import { WORKSPACE_HEADER } from './workspace-header.js';

/** Workspaces that a refusal names. */
const NAMED = 20;

/** Everybody who can reach the loopback interface, where nobody is asked. */
const localIn = (workspace: string): Identity => ({
  subject: 'local',
  scope: 'admin',
  isOperator: true,
  home: workspace,
  memberships: workspace === SHARED_WORKSPACE ? [] : [{ workspace, role: 'admin' }],
});

/** What a server asks of every request. */
export interface Gate {
  readonly mode: Pick<AccessMode, 'isOn'>;
  admit(request: FastifyRequest, rule: AccessRule): Promise<void>;
}

/** Lets requests in: who it is, in which workspace, and whether that is enough. Before anything of a body is read. */
export class Access implements Gate {
  constructor(
    readonly mode: AccessMode,
    private readonly authenticator: Pick<Authenticator, 'identify'>,
    private readonly workspaces: WorkspaceStore,
    private readonly members: MemberStore,
    private readonly isMetricsOpen: boolean,
  ) {}

  async admit(request: FastifyRequest, rule: AccessRule): Promise<void> {
    const { permission, isAnywhere = false } = rule;
    if (permission === 'public' || (rule.isMetrics && this.isMetricsOpen)) return;
    const wanted = wantedWorkspace(request);
    const identity = this.mode.isOn
      ? await this.authenticator.identify(request)
      : localIn(await this.existing(wanted ?? 'default'));
    request.identity = identity;
    const principal = await this.principalOf(identity, wanted, permission).catch((error: unknown) => {
      if (isAnywhere && wanted === undefined && isUndecided(error)) return undefined;
      throw error;
    });
    request.principal = principal;
    const caller = principal ?? nowhere(identity);
    if (!isAllowed(caller, permission)) throw forbidden(caller, permission);
  }

  private async principalOf(
    identity: Identity,
    wanted: string | undefined,
    permission: Permission,
  ): Promise<Principal> {
    const { memberships, isOperator } = identity;
    const who = whoOf(identity);
    const [only, ...others] = candidates(identity, wanted);
    // Who is both acts as the operator only where that is needed.
    if (only && others.length === 0 && !(isOperator && permission === 'operate')) return this.member(who, only);
    if (isOperator) {
      return { ...who, role: 'operator', workspace: await this.anyWorkspace(wanted ?? only?.workspace) };
    }
    if (others.length > 0) throw whichOne(memberships.map(({ workspace }) => workspace));
    if (wanted !== undefined) throw noWorkspace(wanted);
    const message = `${who.subject} is in no workspace yet: an admin of one adds it with POST /members, or a repository with POST /ci-bindings`;
    throw new PlatformError('FORBIDDEN', message);
  }

  private async member(who: Who, { workspace, role, isAccepted }: Membership): Promise<Principal> {
    if (isAccepted === false) await this.members.accept(workspace, who.subject);
    return { ...who, workspace, role };
  }

  private async anyWorkspace(wanted: string | undefined): Promise<string> {
    if (wanted !== undefined) return this.existing(wanted);
    const all = (await this.workspaces.list({ limit: NAMED + 2 })).filter((id) => id !== SHARED_WORKSPACE);
    if (all.length === 1 && all[0] !== undefined) return all[0];
    throw whichOne(all);
  }

  private async existing(id: string): Promise<string> {
    if (id === 'default' || (await this.workspaces.exists(id))) return id;
    throw noWorkspace(id);
  }
}

/** The caller is in no workspace, or in several. */
const isUndecided = (error: unknown): boolean =>
  error instanceof PlatformError && (error.code === 'FORBIDDEN' || error.code === 'WORKSPACE_REQUIRED');

/**
 * The workspace that is named, else the one that is meant where none is. An invitation that was never taken does not
 * make it unclear: nobody is put off by what others write.
 */
function candidates({ memberships, home }: Identity, wanted: string | undefined): readonly Membership[] {
  const named = wanted ?? home;
  if (named !== undefined) return memberships.filter(({ workspace }) => workspace === named);
  const accepted = memberships.filter(({ isAccepted }) => isAccepted);
  return accepted.length > 0 ? accepted : memberships;
}

type Who = Omit<Principal, 'workspace' | 'role'>;

const whoOf = ({ subject, scope, keyId }: Identity): Who => ({ subject, scope, ...(keyId !== undefined && { keyId }) });

const nowhere = (identity: Identity): Principal => ({
  ...whoOf(identity),
  role: identity.isOperator ? 'operator' : 'viewer',
  workspace: '-',
});

function wantedWorkspace({ headers }: FastifyRequest): string | undefined {
  const header = headers[WORKSPACE_HEADER];
  if (header === undefined || header === '') return undefined;
  return String(header);
}

function whichOne(ids: readonly string[]): PlatformError {
  const some = ids.slice(0, NAMED).join(', ');
  const message = `say which workspace is meant: ${some}${ids.length > NAMED ? ', …' : ''}`;
  return new PlatformError('WORKSPACE_REQUIRED', `the header ${WORKSPACE_HEADER} is needed: ${message}`, {
    errors: [{ path: WORKSPACE_HEADER, message }],
  });
}

const noWorkspace = (id: string): PlatformError =>
  new PlatformError('NOT_FOUND', `there is no workspace ${JSON.stringify(id.slice(0, 100))} that you are in`);

/** A proxy on this machine makes everybody's requests from here, and says so. */
export function isOfThisMachine({ raw, headers }: FastifyRequest): boolean {
  const address = raw.socket.remoteAddress ?? '';
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  return !isForwarded && isLoopback(address.replace(/^::ffff:/i, ''));
}
