import { error, notice, warning } from '@actions/core';
import { plain } from '../cli/text.js';
import type { GateEvidence, GateReason, GateResult, WouldDecide } from '../contracts/gate.js';
import type { Inputs } from './inputs.js';

/** GitHub shows so many of one kind for a step; the first one is the verdict. */
const MOST = 10;
const LONGEST = 1_000;

/** What a step answers with: the gate's word, in three kinds. */
export type Answer = 'pass' | 'block' | 'cannot-tell';

export function answerOf(gate: Pick<GateResult, 'effective'> | undefined): Answer {
  const { effective } = gate ?? {};
  return effective === 'pass' || effective === 'block' ? effective : 'cannot-tell';
}

/** Whether the step fails with it. */
export const isFailing = (answer: Answer, failOn: FailOn): boolean =>
  answer === 'block' || (answer === 'cannot-tell' && failOn === 'cannot-tell');

const levelOf = (answer: Answer, failOn: FailOn): Annotation['level'] => {
  if (isFailing(answer, failOn)) return 'error';
  return answer === 'pass' ? 'notice' : 'warning';
};

export type FailOn = Inputs['fail-on'];

const WRITE = { error, warning, notice };

interface Annotation {
  level: keyof typeof WRITE;
  title: string;
  message: string;
}

/** Of a gate's result, what is annotated. */
export type JudgedGate = Pick<GateResult, 'effective'> & {
  override: object | null;
  reasons: readonly Pick<GateReason, 'message'>[];
  evidence: Pick<GateEvidence, 'regressions' | 'regressionCount'> & {
    wouldDecide: Pick<WouldDecide, 'message'> | null;
  };
};

/** The verdict with its grounds, and each case that got worse by name. Without a gate, why there is none. */
export function annotationsOf(gate: JudgedGate | undefined, remark: string | undefined, failOn: FailOn): Annotation[] {
  const answer = answerOf(gate);
  const level = levelOf(answer, failOn);
  if (!gate) return [{ level, title: 'Everdict: cannot tell', message: remark ?? '' }];
  const { regressions, regressionCount, wouldDecide } = gate.evidence;
  const named = regressions.slice(0, MOST - 1);
  const unnamed = regressionCount - named.length;
  const grounds = gate.reasons.map(({ message }) => message);
  if (wouldDecide) grounds.push(wouldDecide.message);
  if (unnamed > 0) grounds.push(`${unnamed} more regressions are in the report.`);
  const word = answer === 'cannot-tell' ? `cannot tell (${gate.effective})` : answer;
  return [
    { level, title: `Everdict: ${word}${gate.override ? ', overridden' : ''}`, message: grounds.join('\n') },
    ...named.map((key): Annotation => {
      const message = `${key} passed in the baseline and does not pass now`;
      return { level: level === 'error' ? level : 'warning', title: 'Regression', message };
    }),
  ];
}

/** Text of others cannot break out: its line ends and marks are written as codes. */
export function annotate(annotations: readonly Annotation[]): void {
  for (const { level, title, message } of annotations) {
    WRITE[level](cut(message.split('\n').map(plain).join('\n')), { title });
  }
}

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
