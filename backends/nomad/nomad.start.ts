import type { AttemptFailure } from '../../contracts/attempt.js';
import { oneLine, quoted } from '../cluster-text.js';
import { eventsOf, hasStarted, isOn, lastOf, restartsOf, textOf } from './nomad.evidence.js';
import { pullTroubleOf } from './nomad.pull.js';
import type { JobAllocation } from './nomad.replies.js';

/** How far a placed allocation has come that has not started. */
export function startProgressOf(allocation: JobAllocation): string {
  const where = `on ${isOn(allocation)}`;
  const event = eventsOf(allocation).findLast(({ Type }) => Type !== 'Received');
  if (!event) return `placed ${where}, and nothing is heard of it yet`;
  const said = quoted(textOf(event));
  if (/Downloading image|\bpull/i.test(said)) return `pulling its image ${where} (${said})`;
  if (event.Type === 'Restarting') {
    const why = lastOf(allocation, 'Driver Failure', 'Setup Failure', 'Terminated');
    return `to be started again ${where}${why ? ` after: ${quoted(textOf(why))}` : ''}`;
  }
  return `starting ${where}: ${said === '' ? oneLine(event.Type) : `${oneLine(event.Type)}: ${said}`}`;
}

/** Driver failures whose words tell more than that there was one. */
const DRIVER: readonly (readonly [RegExp, AttemptFailure['code'], string])[] = [
  [/exec: \\?"(\/bin\/)?sh\\?"/, 'TOOL_MISSING', 'the image has no /bin/sh, which every case needs'],
  [
    /executable file not found|exec: .{0,300}no such file or directory/,
    'COMMAND_NOT_FOUND',
    'what it is to run is not there',
  ],
  [/argument list too long/, 'BAD_SPEC', 'its variables are longer than its node takes'],
  [
    /unknown (or invalid )?runtime|runtime .{0,200}not (found|allowed)/i,
    'BAD_SPEC',
    'its `runtime` is not on that node',
  ],
  [/minimum memory limit/i, 'BAD_SPEC', '`resources.memoryMb` is less than its driver takes'],
];

/**
 * Why an allocation that has failed never started. First that applies: its image, its configuration (`Failed Validation`),
 * its driver, its templates, its artifacts, a hook.
 */
export function startFailureOf(allocation: JobAllocation): AttemptFailure | undefined {
  if (hasStarted(allocation) && restartsOf(allocation) === 0) return undefined;
  const where = isOn(allocation);
  const pull = pullTroubleOf(allocation);
  if (pull) return { code: pull.isFinal ? 'IMAGE_UNAVAILABLE' : 'IMAGE_PULL_FAILED', message: pull.text };
  const invalid = lastOf(allocation, 'Failed Validation');
  if (invalid) return { code: 'BAD_SPEC', message: `${where} cannot run such a task: ${quoted(textOf(invalid))}` };
  const driver = lastOf(allocation, 'Driver Failure');
  if (driver) return driverFailure(where, textOf(driver));
  const template = eventsOf(allocation).findLast((event) => /template failed/i.test(textOf(event)));
  if (template) return templateFailure(where, textOf(template));
  const other = lastOf(allocation, 'Failed Artifact Download', 'Task hook failed', 'Setup Failure');
  if (other) return lost(`${where} could not prepare it: ${other.Type}: ${quoted(textOf(other))}`);
  return undefined;
}

const lost = (message: string): AttemptFailure => ({ code: 'ALLOCATION_LOST', message });

function driverFailure(where: string, said: string): AttemptFailure {
  const known = DRIVER.find(([pattern]) => pattern.test(said));
  if (known) return { code: known[1], message: `${known[2]}: ${quoted(said)}` };
  return lost(`the driver on ${where} could not start it: ${quoted(said)}`);
}

/** A template that cannot be read is read no better elsewhere. */
function templateFailure(where: string, said: string): AttemptFailure {
  const message = `${where} could not write its files: ${quoted(said)}`;
  return /parse|unexpected|undefined|not defined|function/i.test(said) ? { code: 'BAD_SPEC', message } : lost(message);
}
