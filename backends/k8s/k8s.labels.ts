import { createHash } from 'node:crypto';
import { allocationName } from '../../policy/naming.js';
import type { JobOwner } from '../backend.js';

export const APP = 'everdict';
const label = (name: string): string => `everdict.dev/${name}`;

/** On every object of an allocation, and on its pods: its name. */
export const ALLOCATION_LABEL = label('allocation');
const DEPLOYMENT = label('deployment');
const WORKSPACE = label('workspace');
const RUN = label('run');
const ATTEMPT = label('attempt');
const EXPIRES = label('expires');
const CASE = label('case');

const LEGAL = /^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const HASH = /^sha256-[0-9a-f]{56}$/;

/** A text as the value of a label: itself where it is a legal one, else a hash. Different texts have different values. */
export function labelValue(text: string): string {
  if (LEGAL.test(text) && !HASH.test(text)) return text;
  return `sha256-${createHash('sha256').update(text).digest('hex').slice(0, 56)}`;
}

type Texts = Readonly<Record<string, string>>;

/** Whose an object is: for people, for sweeps, and for `isOurs`. */
export const labelsOf = (owner: JobOwner): Record<string, string> => ({
  app: APP,
  [DEPLOYMENT]: labelValue(owner.deployment),
  [WORKSPACE]: labelValue(owner.workspaceId),
  ...(owner.scorecardId !== undefined && { [label('scorecard')]: labelValue(owner.scorecardId) }),
  [RUN]: labelValue(owner.runId),
  [ATTEMPT]: String(owner.attempt),
  [CASE]: labelValue(owner.caseId),
  [EXPIRES]: timeValue(owner.expiresAt),
});

/** What a label may have no room for. */
export const annotationsOf = ({ workspaceId, caseId }: JobOwner): Record<string, string> => ({
  [WORKSPACE]: workspaceId,
  [CASE]: caseId,
});

/** Whether an object of our name was made for this attempt. The other labels are what each version makes of them. */
export function isOurs(labels: Texts | undefined, owner: JobOwner): boolean {
  const own = labelsOf(owner);
  return ['app', DEPLOYMENT, WORKSPACE, RUN, ATTEMPT].every((key) => labels?.[key] === own[key]);
}

/** Whether an object says itself that it is of the allocation we call so: others may have taken its name. */
export function isNamedBy(labels: Texts | undefined, name: string): boolean {
  const { app, [DEPLOYMENT]: deployment = '', [RUN]: run = '', [ATTEMPT]: attempt = '' } = labels ?? {};
  return app === APP && allocationName(deployment, run, Number(attempt)) === name;
}

/** Selects what is of a deployment, or of one allocation of it. */
export const selectorOf = (deployment: string, name?: string): string =>
  [`app=${APP}`, `${DEPLOYMENT}=${labelValue(deployment)}`, ...(name ? [`${ALLOCATION_LABEL}=${name}`] : [])].join(',');

export interface Labelled {
  allocation: string;
  deployment: string;
  workspaceId: string;
  /** Epoch ms. Absent: it says none that can be read. */
  expiresAt?: number;
}

/** What an object says of whose it is. Absent: it is none of ours. */
export function ownerOf(labels: Texts | undefined, annotations: Texts = {}): Labelled | undefined {
  const { app, [ALLOCATION_LABEL]: allocation, [DEPLOYMENT]: deployment, [WORKSPACE]: workspace } = labels ?? {};
  if (app !== APP || !allocation || !deployment || !workspace) return undefined;
  const expiresAt = parseTime(labels?.[EXPIRES] ?? '');
  const workspaceId = annotations[WORKSPACE] ?? workspace;
  return { allocation, deployment, workspaceId, ...(expiresAt !== undefined && { expiresAt }) };
}

/** ISO 8601 but for the colons, which no label has. */
const timeValue = (ms: number): string => new Date(ms).toISOString().replaceAll(':', '.');

function parseTime(value: string): number | undefined {
  const [, date, hour, rest] = /^(\d{4}-\d\d-\d\dT)(\d\d)\.(\d\d\.\d\d\.\d{3}Z)$/.exec(value) ?? [];
  if (date === undefined || hour === undefined || rest === undefined) return undefined;
  const ms = Date.parse(`${date}${hour}:${rest.replace('.', ':')}`);
  return Number.isNaN(ms) ? undefined : ms;
}
