import { stoppedByHand } from '../failures.js';
import { Outage } from '../outage.js';
import type { Reader } from '../pages.js';
import type { Session } from '../session.js';

const PAUSE_MS = 1_000;

/** How long an evaluation bears a platform that does not answer, and what ends it. */
export interface Patience {
  patienceMs: number;
  signal: AbortSignal;
}

/** Does the call again until it is answered, also while the platform restarts. What is refused is thrown at once. */
export async function patiently<Answer>(
  session: Session,
  { patienceMs, signal }: Patience,
  call: () => Promise<Answer>,
): Promise<Answer> {
  const { terminal } = session;
  const outage = new Outage(patienceMs, (message) => session.note(message));
  for (; !signal.aborted; await terminal.sleep(PAUSE_MS, signal)) {
    try {
      const answer = await call();
      outage.over(terminal.now());
      return answer;
    } catch (error) {
      outage.bear(error, terminal.now());
    }
  }
  throw stoppedByHand();
}

/** Reads like that, each call by itself: of many in a row that are repeated together, one would fail each time. */
export const patientReader = (session: Session, patience: Patience): Reader => ({
  client: {
    get: (path, schema, call) => patiently(session, patience, () => session.client.get(path, schema, call)),
  },
});
