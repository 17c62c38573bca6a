import type { EvalCase } from '../contracts/case.js';
import type { FieldError } from '../contracts/errors.js';
import { fieldPath, quoted } from '../contracts/field-path.js';
import type { Grader } from '../contracts/grader.js';
import type { HarnessSpec } from '../contracts/harness.js';
import { stepsOf } from './json-path.js';
import { compileFault } from './pattern.js';
import { paramVariable, referenceFault, referenceFaults, unknownReferences } from './references.js';

/** Patterns that do not compile, and variables of scripts that do not exist. */
export function graderFaults(graders: readonly Grader[]): FieldError[] {
  return graders.flatMap((grader, index) => {
    if (grader.kind === 'regex') {
      const message = compileFault(grader.pattern);
      return message === undefined ? [] : [{ path: `graders[${index}].pattern`, message }];
    }
    if (grader.kind === 'command') return scriptFaults(`graders[${index}].command`, grader.command);
    return [];
  });
}

/** Parameters belong to the harness, so a case's own scripts are not checked for them. */
function scriptFaults(path: string, script: string): FieldError[] {
  return unknownReferences(script, {})
    .filter(({ name }) => !name.startsWith('EVERDICT_PARAM_'))
    .map((unknown) => ({ path, message: referenceFault(unknown) }));
}

/** A path cannot be a file and the directory of another file. */
function fileFaults(files: Record<string, unknown>): FieldError[] {
  const paths = new Set(Object.keys(files));
  return [...paths].flatMap((path) => {
    const parents = path
      .split('/')
      .slice(0, -1)
      .map((_, depth, segments) => segments.slice(0, depth + 1).join('/'));
    const clash = parents.find((parent) => paths.has(parent));
    if (clash === undefined) return [];
    return [
      {
        path: fieldPath(['env', 'source', 'files', path]),
        message: `needs a directory where ${quoted(clash)} is a file`,
      },
    ];
  });
}

/** What is wrong with a case beyond its shape: patterns that do not compile, variables that do not exist, files that clash. */
export function caseFaults(evalCase: EvalCase): FieldError[] {
  const faults = graderFaults(evalCase.graders);
  const { env } = evalCase;
  if (env.kind !== 'repo') return faults;
  const setup = env.setup ?? [];
  faults.push(...setup.flatMap((script, index) => scriptFaults(`env.setup[${index}]`, script)));
  if ('files' in env.source) faults.push(...fileFaults(env.source.files));
  return faults;
}

/** Paths into the answer of a session pool that are none. */
function capacityFaults({ acquire }: HarnessSpec): FieldError[] {
  const { total, used } = acquire?.capacity ?? {};
  return Object.entries({ total, used }).flatMap(([name, path]) =>
    path === undefined || stepsOf(path)
      ? []
      : [
          {
            path: `acquire.capacity.${name}`,
            message: 'is no path into JSON, as `pool.total` or `$.pools[0]["total"]`',
          },
        ],
  );
}

/** What is wrong with a harness beyond its shape: variables and paths that are none, parameters that share a variable. */
export function harnessFaults(spec: HarnessSpec): FieldError[] {
  const faults = [...referenceFaults(spec), ...capacityFaults(spec)];
  const owners = new Map<string, string>();
  for (const name of Object.keys(spec.params)) {
    const variable = paramVariable(name);
    const owner = owners.get(variable);
    if (owner === undefined) owners.set(variable, name);
    else faults.push({ path: fieldPath(['params', name]), message: `is $${variable}, as ${quoted(owner)} is` });
  }
  return faults;
}
