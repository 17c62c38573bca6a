import { oneLine, quoted } from '../cluster-text.js';

export interface PodRefusal {
  /** With Kubernetes' words, and the way out where there is one. */
  text: string;
  /** It is refused again whenever it is tried. */
  isFinal: boolean;
}

const IN_FRONT = /^Error creating: (pods "[^"]*" is forbidden: )?/;
const USED_UP = /^exceeded quota: (\S+?),? (requested: .*)$/s;

/** What no further try mends, and the way out. */
const FINAL: readonly (readonly [RegExp, (said: string) => string])[] = [
  [/^failed quota: .*must specify/s, (said) => `a quota of its \`namespace\` takes none without ${fieldsIn(said)}`],
  [
    /^\[?(maximum|minimum) \S+ (usage|storage) per |max limit to request ratio/,
    (said) => `a LimitRange of its \`namespace\` does not allow its ${fieldsIn(said)}`,
  ],
  [/violates PodSecurity/, () => 'its `namespace` takes only pods of a stricter PodSecurity level: give another'],
  [
    /looking up service account|serviceaccount ".*" not found/,
    () => 'its `namespace` lacks the service account that its pods are of: make it',
  ],
  [/RuntimeClass ".*" not found/, () => 'there is no such `runtimeClass`'],
  [
    /no PriorityClass with name/,
    () => 'there is no such priority class, which something in the cluster gives its pods',
  ],
  [/node (label )?selector conflicts with its namespace/, () => 'its `namespace` does not allow that `nodeSelector`'],
  [/tolerations .*conflict with its namespace/s, () => 'its `namespace` does not allow those `tolerations`'],
  [
    /admission webhook ".*" denied|image policy webhook .*denied|ValidatingAdmissionPolicy .*denied/s,
    () => 'a rule of the cluster forbids it',
  ],
  [/because it is being terminated/, () => 'its `namespace` is being deleted: give another'],
  [/^Pod ".*" is invalid/s, () => 'Kubernetes takes no such pod'],
];

const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/\bmemory\b/, '`resources.memoryMb`'],
  [/\bcpu\b/, '`resources.cpu`'],
  [/nvidia\.com\/gpu/, '`resources.gpu`'],
];

/** The fields of ours that set the resources which are spoken of. */
function fieldsIn(said: string): string {
  const fields = FIELDS.filter(([pattern]) => pattern.test(said)).map(([, field]) => field);
  return fields.length > 0 ? fields.join(' and ') : 'what it asks for';
}

/** Why Kubernetes makes no pod of a Job, by an event of it. A quota is given back, and a webhook comes back. */
export function refusalOf(message: string): PodRefusal {
  const said = message.replace(IN_FRONT, '').trim();
  const [, quota, numbers] = USED_UP.exec(said) ?? [];
  if (quota !== undefined && numbers !== undefined) {
    return { text: `the quota ${oneLine(quota)} is used up (${quoted(numbers)})`, isFinal: false };
  }
  const final = FINAL.find(([pattern]) => pattern.test(said));
  if (final) return { text: `${final[1](said)}: ${quoted(said)}`, isFinal: true };
  return { text: `Kubernetes cannot make its pod now: ${quoted(said)}`, isFinal: false };
}
