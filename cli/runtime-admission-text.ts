import type { DialReply, RuntimeAdmissionReply } from './steering-wire.js';
import { clock, plain, table } from './text.js';

/** Decisions that are shown. */
const DECISIONS = 10;

const STATES = {
  open: 'grants slots',
  paused: 'is paused (new work is taken and waits)',
  draining: 'drains (new work is refused)',
};

type Limits = DialReply['inForce'];

const limitText = ({ slots, memoryMb, cpuMillicores }: Limits): string =>
  [
    `${slots} slots`,
    memoryMb === null ? '' : `${memoryMb} MB`,
    cpuMillicores === null ? '' : `${cpuMillicores} millicores`,
  ]
    .filter(Boolean)
    .join(', ');

const endText = (until: string | null): string => (until === null ? 'until somebody resumes it' : `until ${until}`);

/** How a runtime is set, for people. */
export function dialText(dial: DialReply): string {
  const { runtime, mode, limits, until, limitsUntil, reason, by, envelope, inForce } = dial;
  const isLowered = Object.values(limits).some((limit) => limit !== null);
  const lines = [`${runtime} ${STATES[mode]}${mode === 'open' ? '' : `, ${endText(until)}`}`];
  lines.push(
    isLowered
      ? `limits: ${limitText(inForce)}, ${endText(limitsUntil)} (its own: ${limitText(envelope)})`
      : `limits: ${limitText(envelope)}`,
  );
  if (reason !== null) lines.push(`why: ${reason}`);
  if (by !== null) lines.push(`set by ${by}`);
  const [head = '', ...rest] = lines.map(plain);
  return `${head}\n${rest.map((line) => `  ${line}\n`).join('')}`;
}

/** A runtime as its ledger sees it, for people. */
export function admissionText(reply: RuntimeAdmissionReply, columns: number): string {
  const { dial, inUse, waiting, reservation, parkedWorkspaces, pausedScorecards, circuit, sessionPools } = reply;
  const { slots, memoryMb, cpuMillicores } = dial.inForce;
  const uses = [
    `${inUse.slots} of ${slots} slots`,
    memoryMb === null ? '' : `${inUse.memoryMb} of ${memoryMb} MB`,
    cpuMillicores === null ? '' : `${inUse.cpuMillicores} of ${cpuMillicores} millicores`,
  ];
  const facts = [
    `in use: ${uses.filter(Boolean).join(', ')}`,
    `waiting: ${waiting.interactive} interactive, ${waiting.batch} batch (${waiting.aged} for over a minute)`,
    reservation ? `what comes free is kept for ${reservation.run}, which asked at ${reservation.askedAt}` : '',
    parkedWorkspaces.length > 0 ? `at their quota: ${parkedWorkspaces.join(', ')}` : '',
    pausedScorecards.length > 0 ? `paused scorecards: ${pausedScorecards.join(', ')}` : '',
    circuit && circuit.state !== 'closed' ? circuitText(circuit) : '',
    ...sessionPools.map(sessionText),
  ];
  const lines = facts.filter(Boolean).map((line) => `  ${plain(line)}\n`);
  return `${dialText(dial)}${lines.join('')}${holders(reply, columns)}${decisions(reply)}`;
}

function sessionText({
  name,
  state,
  total,
  used,
  failure,
  ours,
  waiting,
}: RuntimeAdmissionReply['sessionPools'][number]): string {
  const said = {
    unread: 'not asked yet, so that nobody starts',
    failed: `nothing is known (${failure}), and the limits of the runtime hold`,
    reading: used === null ? `${total} in all` : `${used} of ${total} taken`,
  };
  return `sessions of ${name}: ${said[state]}; ${ours} ours, ${waiting} waiting`;
}

function circuitText({ state, failures, until }: NonNullable<RuntimeAdmissionReply['circuit']>): string {
  const next = state === 'probing' ? 'one case tries it' : `one case tries it at ${until ?? 'once'}`;
  return `it failed ${failures} times in a row: ${next}`;
}

function holders({ holders: found, moreHolders }: RuntimeAdmissionReply, columns: number): string {
  if (found.length === 0) return moreHolders > 0 ? `\n${moreHolders} slots are held by others\n` : '';
  const heads = [
    { title: 'run' },
    { title: 'case', max: 40 },
    { title: 'holds it for', align: 'right' },
    { title: 'phase' },
    { title: 'left', align: 'right' },
  ] as const;
  const rows = found.map(({ run, caseId, ageMs, phase, leftMs }) => [
    ...[run, caseId ?? '–', clock(ageMs), phase ?? '–', leftMs === null ? '–' : clock(leftMs)],
  ]);
  const more = moreHolders > 0 ? `${moreHolders} more are not shown\n` : '';
  return `\n${table(heads, rows, columns)}${more}`;
}

function decisions({ decisions: all }: RuntimeAdmissionReply): string {
  if (all.length === 0) return '';
  const lines = all
    .slice(-DECISIONS)
    .map(({ at, run, decision, reason }) => `  ${plain(`${at.slice(11, 19)}  ${run}  ${decision}: ${reason}`)}\n`);
  return `\nlast decisions:\n${lines.join('')}`;
}
