import { GateRules } from '../contracts/gate.js';
import { type EarlyCase, earlyCase } from '../policy/early-stop/early-case.js';
import { judgeEarly } from '../policy/early-stop/judge.js';
import { uniformAt } from '../policy/uniform.js';
import { type Figures, rounded, sum, type Table } from './figures.js';

const PULL_REQUESTS = 1_000;
const CASES = 500;
/** Of them passed in the baseline. */
const PASSED_BEFORE = 400;
/** How often it is looked: after so many cases more. */
const STEP = 10;
const ERROR_RATE = 0.05;

/** A pull request by what it does to the cases: so many that passed fail, and so many that failed pass. */
interface Change {
  regressed: number;
  fixed?: number;
}

const REGRESSIONS = { maxRegressions: 10, minCoverage: 0.2 };
const PASS_RATE = { minPassRate: 0.75, minCoverage: 0.2 };
const BOTH = { ...REGRESSIONS, ...PASS_RATE, perTag: { hard: { minPassRate: 0.6 } } };
const NONE = { maxRegressions: 0 };

const SCENARIOS: [string, object, Change][] = [
  ['at most 10 regressions: none', REGRESSIONS, { regressed: 0 }],
  ['at most 10 regressions: 5', REGRESSIONS, { regressed: 5 }],
  ['at most 10 regressions: 10, the most that may be', REGRESSIONS, { regressed: 10 }],
  ['at most 10 regressions: 11, one too many', REGRESSIONS, { regressed: 11 }],
  ['at most 10 regressions: 20', REGRESSIONS, { regressed: 20 }],
  ['at most 10 regressions: 50', REGRESSIONS, { regressed: 50 }],
  ['at most 10 regressions: 150', REGRESSIONS, { regressed: 150 }],
  ['at least 75 % pass: 90 %', PASS_RATE, { regressed: 0, fixed: 50 }],
  ['at least 75 % pass: 80 %', PASS_RATE, { regressed: 0 }],
  ['at least 75 % pass: 75 %, just enough', PASS_RATE, { regressed: 25 }],
  ['at least 75 % pass: 74.8 %, one too few', PASS_RATE, { regressed: 26 }],
  ['at least 75 % pass: 70 %', PASS_RATE, { regressed: 50 }],
  ['at least 75 % pass: 50 %', PASS_RATE, { regressed: 150 }],
  ['both, and 60 % of a tag: none regressed', BOTH, { regressed: 0 }],
  ['both, and 60 % of a tag: 10 regressed', BOTH, { regressed: 10 }],
  ['both, and 60 % of a tag: 30 regressed', BOTH, { regressed: 30 }],
  ['no regression, all must be judged: none', NONE, { regressed: 0 }],
  ['no regression, all must be judged: 1', NONE, { regressed: 1 }],
  ['no regression, all must be judged: 10', NONE, { regressed: 10 }],
];

/** How often an early verdict is not that of the whole, and what it saves: over seeded pull requests, each in an order of its own. */
export function benchEarlyStop(): Promise<Figures> {
  const title = (errorRate: number): string =>
    `${PULL_REQUESTS} pull requests each, ${CASES} cases, error rate ${errorRate}: verdict of the whole, wrong ones, and cases run`;
  const tables = [ERROR_RATE, 0].map((errorRate) => {
    const table: Table = Object.fromEntries(
      SCENARIOS.map(([name, rules, change], at) => [name, rowOf(at, rules, change, errorRate)]),
    );
    return [title(errorRate), table] as const;
  });
  return Promise.resolve(Object.fromEntries(tables));
}

function rowOf(seed: number, rules: object, change: Change, errorRate: number): Table[string] {
  const plan = {
    policy: { ref: null, hash: '', rules: GateRules.parse(rules) },
    ...{ baseline: 'sc_0', errorRate, minCases: 20 },
  };
  let [whole, wrong, early] = ['', 0, 0];
  const ran: number[] = [];
  for (let request = 0; request < PULL_REQUESTS; request += 1) {
    const cases = shuffled(seed, request, aPullRequest(change));
    const open = cases.map(({ known: _, ...each }) => ({ ...each, isMeasured: false, mayBeInfra: true }));
    const after = (ended: number) => judgeEarly(plan, [...cases.slice(0, ended), ...open.slice(ended)])?.verdict;
    whole = after(CASES) ?? 'none';
    let settled = STEP;
    let verdict = after(settled);
    for (; verdict === undefined && settled < CASES; settled += STEP) verdict = after(settled + STEP);
    ran.push(settled);
    if (settled < CASES) early += 1;
    if ((verdict ?? 'none') !== whole) wrong += 1;
  }
  ran.sort((one, other) => one - other);
  return {
    whole,
    'wrong, %': rounded((wrong / PULL_REQUESTS) * 100, 1),
    'ended early, %': rounded((early / PULL_REQUESTS) * 100, 1),
    'cases run: mean': rounded(sum(ran) / ran.length),
    'nine of ten at most': ran[Math.floor(ran.length * 0.9)] ?? 0,
  };
}

function aPullRequest({ regressed, fixed = 0 }: Change): EarlyCase[] {
  return Array.from({ length: CASES }, (_, at) => {
    const wasPassed = at < PASSED_BEFORE;
    const passes = wasPassed ? at >= regressed : at < PASSED_BEFORE + fixed;
    const trial = (isPassed: boolean) => ({
      outcome: isPassed ? ('passed' as const) : ('failed' as const),
      isDecided: false,
    });
    return earlyCase({
      ...{ caseId: `case-${at}`, tags: at % 5 === 0 ? ['hard'] : [] },
      ...{ trials: [trial(passes)], before: [trial(wasPassed)] },
    });
  });
}

/** Fisher and Yates. */
function shuffled(seed: number, request: number, cases: EarlyCase[]): EarlyCase[] {
  const order = [...cases];
  for (let left = order.length - 1; left > 0; left -= 1) {
    const drawn = Math.floor(uniformAt(seed, request, left) * (left + 1));
    const [one, other] = [order[left], order[drawn]];
    if (one && other) [order[left], order[drawn]] = [other, one];
  }
  return order;
}
