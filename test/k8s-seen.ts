import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { K8sEvent, K8sJob, Pod, type SeenPod } from '../backends/k8s/k8s.replies.js';

/** What a live cluster said of Jobs, each with its newest pod, and of their events what says most; shortened. */
const Seen = z.record(
  z.string(),
  z.object({
    job: z.unknown().optional(),
    pod: z.looseObject({ deleted: z.boolean().optional() }).optional(),
    events: z.array(K8sEvent).default([]),
  }),
);
const SEEN = Seen.parse(JSON.parse(readFileSync(new URL('k8s-seen.json', import.meta.url), 'utf8')));

const seen = (name: string) => {
  const found = SEEN[name];
  if (!found) throw new Error(`nothing was seen of ${name}`);
  return found;
};

export const seenEvents = (name: string): K8sEvent[] => seen(name).events;
/** A Job that was deleted is gone. */
export const seenJob = (name: string): K8sJob | undefined => {
  const { job } = seen(name);
  return job === undefined ? undefined : K8sJob.parse(job);
};

export function seenPod(name: string): SeenPod {
  const { pod } = seen(name);
  return { ...Pod.parse(pod), ...(pod?.deleted && { deleted: true as const }) };
}
