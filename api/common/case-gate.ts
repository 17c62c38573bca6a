import { EvalCase } from '../../contracts/case.js';
import { type ErrorCode, type FieldError, PlatformError } from '../../contracts/errors.js';
import { fieldPath } from '../../contracts/field-path.js';
import type { HarnessSpec, Params } from '../../contracts/harness.js';
import type { Envelope, RuntimeSpec } from '../../contracts/runtime.js';
import { type OperatorFlags, siteFaults } from '../../policy/capabilities.js';
import { declaredResources, demandOf, exceeds } from '../../policy/demand.js';
import { type JobSettings, unknownSecrets } from '../../policy/job-parts.js';
import { jobPayload } from '../../policy/job-payload.js';
import { payloadBytes, TASK_ENV_BYTES } from '../../policy/payload.js';
import { shellFaults } from '../../policy/process-job.js';
import { namesTask } from '../../policy/references.js';
import type { RegisteredRuntime } from '../../store/runtime-row.js';

/** A runtime that cases are submitted to. */
export type Site = RegisteredRuntime;

interface Fault extends FieldError {
  code: ErrorCode;
}

/** As long as the id of any run. */
const ANY_RUN_ID = `sc_${'0'.repeat(26)}.999999`;
const EMPTY_CASE = EvalCase.parse({ id: 'a', task: '' });
/** As UTF-8, as hex in lines, or quoted for a shell. */
const MOST_BYTES_A_CHARACTER = 4;
/** For what stands in a payload twice. */
const SLACK_BYTES = 16_384;
/** Faults that one refusal lists. */
const MOST_FAULTS = 20;

interface Limits extends OperatorFlags {
  jobs: JobSettings;
}

/** Checks the cases of one submit, one by one, and refuses them together. Paths name the case. */
export class CaseGate {
  private readonly faults: Fault[] = [];
  private readonly namesTask: boolean;
  /** What the payload of every case holds. */
  private readonly commonBytes: number;

  constructor(
    private readonly harness: HarnessSpec,
    private readonly params: Params,
    private readonly limits: Limits,
  ) {
    this.namesTask = namesTask(harness);
    this.commonBytes = payloadBytes(this.payloadOf(EMPTY_CASE)) + SLACK_BYTES;
  }

  /** Whether more cases are worth a look. */
  get isOpen(): boolean {
    return this.faults.length < MOST_FAULTS;
  }

  check(evalCase: EvalCase, { spec, envelope }: Site): void {
    this.refuse(evalCase, [
      ...siteFaults(evalCase, this.harness, spec, this.limits),
      ...this.shellFaults(evalCase),
      ...this.demandFaults(evalCase, envelope, spec),
      ...this.payloadFaults(evalCase),
    ]);
  }

  /** What can be checked wherever it runs. */
  checkAnywhere(evalCase: EvalCase): void {
    this.refuse(evalCase, [...this.shellFaults(evalCase), ...this.payloadFaults(evalCase)]);
  }

  private refuse(evalCase: EvalCase, found: readonly Fault[]): void {
    for (const { code, path, message } of found) {
      const place = fieldPath(['cases', evalCase.id]);
      this.faults.push({ code, path: path ? `${place}.${path}` : place, message });
    }
  }

  /** Throws if a case was refused; the first fault gives the code. */
  close(): void {
    const [first] = this.faults;
    if (!first) return;
    const errors = this.faults
      .filter(({ code }) => code === first.code)
      .map(({ path, message }) => ({ path, message }));
    const more = errors.length > 1 ? `; and ${errors.length - 1} more of this kind` : '';
    throw new PlatformError(first.code, `${first.path}: ${first.message}${more}`, { errors });
  }

  private shellFaults(evalCase: EvalCase): Fault[] {
    return shellFaults(evalCase, this.harness).map((fault) => ({ code: 'BAD_SPEC', ...fault }));
  }

  private demandFaults(evalCase: EvalCase, envelope: Envelope, spec: RuntimeSpec): Fault[] {
    const excess = exceeds(demandOf(declaredResources(evalCase, this.harness)), envelope);
    if (!excess) return [];
    const { axis, asked, limit } = excess;
    const [field, unit] = axis === 'memoryMb' ? ['resources.memoryMb', 'MB'] : ['resources.cpu', 'millicores'];
    const message = `declares ${asked} ${unit}; runtime ${spec.id} admits ${limit} in all`;
    return [{ code: 'DEMAND_EXCEEDS_ENVELOPE', path: field, message }];
  }

  private payloadFaults(evalCase: EvalCase): Fault[] {
    const { jobs } = this.limits;
    // No character of a case takes more bytes than this, so most cases need not be built.
    const most = MOST_BYTES_A_CHARACTER * JSON.stringify(evalCase).length;
    if (most <= TASK_ENV_BYTES && most + this.commonBytes <= jobs.payloadLimit) return [];
    const payload = this.payloadOf(evalCase);
    const task = payload.get('task')?.length ?? 0;
    if (this.namesTask && task > TASK_ENV_BYTES) {
      const message =
        `has ${task} bytes, and above ${TASK_ENV_BYTES} it is not in $EVERDICT_TASK, which harness ` +
        `${this.harness.id} reads: read $EVERDICT_TASK_FILE instead`;
      return [{ code: 'BAD_SPEC', path: 'task', message }];
    }
    const bytes = payloadBytes(payload);
    if (bytes <= jobs.payloadLimit) return [];
    const message = `task, files and scripts make a payload of ${bytes} bytes; the limit is ${jobs.payloadLimit}`;
    return [{ code: 'PAYLOAD_TOO_LARGE', path: '', message }];
  }

  private payloadOf(evalCase: EvalCase): Map<string, Uint8Array> {
    const secrets = unknownSecrets(this.harness);
    const job = { runId: ANY_RUN_ID, case: evalCase, harness: this.harness, params: this.params, secrets };
    return jobPayload(job, { ...this.limits.jobs, payloadLimit: Number.POSITIVE_INFINITY });
  }
}
