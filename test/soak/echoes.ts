/** Each prints its task, which is its answer. */
export const echoes = (count: number, seconds: (index: number) => number = () => 0) =>
  Array.from({ length: count }, (_, i) => ({
    id: `case/${i}`,
    task: `${seconds(i)} word-${i}`,
    graders: [{ kind: 'equals', id: 'answer', value: `word-${i}` }],
  }));
export const ECHO = 'set -- $EVERDICT_TASK\n[ "$1" = 0 ] || sleep "$1"\nprintf %s "$2"';

export const allPassed = (count: number) => ({
  ...{ submitted: count, queued: 0, waiting: 0, running: 0, settled: count },
  ...{ passed: count, failed: 0, errored: 0, cancelled: 0, infraErrors: 0, decided: 0 },
});
