import type { FieldError } from '../contracts/errors.js';
import type { NomadRuntimeSpec } from '../contracts/runtime.js';

/** MB. Nomad takes no job with less. */
export const NOMAD_LEAST_MEMORY_MB = 10;

type Constraint = NonNullable<NomadRuntimeSpec['constraints']>[number];

const WITHOUT_VALUE: ReadonlySet<string> = new Set(['is_set', 'is_not_set']);
const VALUE_OPTIONAL: ReadonlySet<string> = new Set(['distinct_hosts', 'distinct_property', 'regexp']);

/** Why Nomad would refuse every job of a runtime; paths are those of the spec. */
export function nomadFaults({ driver, runtime, constraints = [] }: NomadRuntimeSpec): FieldError[] {
  const faults = constraints.flatMap((constraint, at) => {
    const message = valueFault(constraint);
    return message === undefined ? [] : [{ path: `constraints[${at}].value`, message }];
  });
  // A sandbox that is asked for and not there is worse than none.
  if (runtime !== undefined && driver !== 'docker') {
    faults.push({ path: 'runtime', message: `is for driver docker: driver ${driver} is told of none` });
  }
  return faults;
}

function valueFault({ operator, value }: Constraint): string | undefined {
  if (WITHOUT_VALUE.has(operator)) return value === '' ? undefined : `operator ${operator} takes no value`;
  if (value === '') return VALUE_OPTIONAL.has(operator) ? undefined : `operator ${operator} needs a value`;
  if (operator === 'distinct_property' && !/^[1-9]\d{0,8}$/.test(value)) {
    return 'operator distinct_property takes a number, of 1 or more, or nothing';
  }
  return undefined;
}
