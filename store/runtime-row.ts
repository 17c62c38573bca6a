import { type Envelope, RuntimeSpec } from '../contracts/runtime.js';
import { type DemandRow, demandOfRow } from './demand-row.js';
import { poolIdOf } from './pool-limits.js';
import { KNOWN, type KnownVersion } from './spec-ref.js';

export interface RegisteredRuntime extends KnownVersion {
  spec: RuntimeSpec;
  poolId: string;
  /** The limits in force, which are those of the latest version; of one that is not confirmed, once it is. */
  envelope: Envelope;
  /** It takes no new work: until when, and why, as far as somebody said so. */
  drain?: { until?: Date; reason?: string };
  createdAt: Date;
}

export interface RuntimeRow extends KnownVersion, DemandRow {
  content: unknown;
  created_at: Date;
  slots: number;
  pool_slots: number | null;
  pool_memory_mb: number | null;
  pool_cpu_millicores: number | null;
  is_draining: boolean;
  dial_until: Date | null;
  dial_reason: string | null;
}

/** Columns of a `RuntimeRow`, of a runtime `t` and its pool `p`. */
export const RUNTIME_COLUMNS = `${KNOWN}, t.content, t.created_at, t.slots, t.memory_mb, t.cpu_millicores,
  p.slots AS pool_slots, p.memory_mb AS pool_memory_mb, p.cpu_millicores AS pool_cpu_millicores,
  coalesce(p.dial_mode = 'draining' AND coalesce(p.dial_until > now(), true), false) AS is_draining,
  p.dial_until, p.dial_reason`;

export const RUNTIME_TABLES = 'runtimes t LEFT JOIN pools p ON p.workspace_id = t.workspace_id AND p.runtime_id = t.id';

/** `followsPool`: the limits of its pool hold for it, too, if there is one. */
export function registeredRuntime(found: RuntimeRow, followsPool: boolean): RegisteredRuntime {
  const { pk, id, version, registeredAt, owner, contentHash, isConfirmed, isDeprecated, deprecatedReason } = found;
  const isInForce = followsPool && found.pool_slots !== null;
  const caps = isInForce ? { memory_mb: found.pool_memory_mb, cpu_millicores: found.pool_cpu_millicores } : found;
  const { dial_until: until, dial_reason: reason } = found;
  return {
    ...{ pk, id, version, registeredAt, owner, contentHash, isConfirmed, isDeprecated, deprecatedReason },
    spec: RuntimeSpec.parse(found.content),
    poolId: poolIdOf(owner, id),
    envelope: { slots: (isInForce ? found.pool_slots : null) ?? found.slots, ...demandOfRow(caps) },
    ...(found.is_draining && { drain: { ...(until && { until }), ...(reason !== null && { reason }) } }),
    createdAt: found.created_at,
  };
}
