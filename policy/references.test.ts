import { HarnessSpec } from '../contracts/harness.js';
import { namesTask, paramVariable, referenceFaults, unknownReferences } from './references.js';

const aHarness = (parts: object) =>
  HarnessSpec.parse({ kind: 'command', id: 'h', version: '1', command: 'true', ...parts });

describe('unknownReferences', () => {
  test.each([
    ['$EVERDICT_TASK'],
    ['cat "$EVERDICT_TASK_FILE" > "$EVERDICT_ANSWER_FILE"'],
    [`echo \${EVERDICT_MODEL:-none} \${#EVERDICT_TASK} $EVERDICT_RUN_ID $EVERDICT_CASE_ID $EVERDICT_USAGE_FILE`],
    ['echo $EVERDICT_PARAM_MAX_STEPS'],
    ['echo $HOME $MY_EVERDICT_X EVERDICT_NOTHING'],
    ["# reads $EVERDICT_TASKS\necho '$EVERDICT_TASKS'"],
  ])('has nothing against %s', (script) => {
    expect(unknownReferences(script, { 'max-steps': 3 })).toEqual([]);
  });

  test.each([
    ['$EVERDICT_TASKS', 'EVERDICT_TASKS', 'EVERDICT_TASK'],
    [`"\${EVERDICT_ANSWERFILE}"`, 'EVERDICT_ANSWERFILE', 'EVERDICT_ANSWER_FILE'],
    [`\${EVERDICT_task}`, 'EVERDICT_task', 'EVERDICT_TASK'],
    [`\${#EVERDICT_PARAM_MAX_STEP}`, 'EVERDICT_PARAM_MAX_STEP', 'EVERDICT_PARAM_MAX_STEPS'],
    ['$EVERDICT_QUITE_ANOTHER_THING_ALTOGETHER', 'EVERDICT_QUITE_ANOTHER_THING_ALTOGETHER', undefined],
  ])('finds %s', (script, name, nearest) => {
    expect(unknownReferences(script, { 'max-steps': 3 })).toEqual([{ name, nearest }]);
  });

  test('names each once', () => {
    expect(unknownReferences(`$EVERDICT_A \${EVERDICT_A} $EVERDICT_B`, {}).map(({ name }) => name)).toEqual([
      'EVERDICT_A',
      'EVERDICT_B',
    ]);
  });
});

describe('referenceFaults', () => {
  test('names the script and the variable that was meant', () => {
    const spec = aHarness({ setup: ['true', 'echo $EVERDICT_MODLE'], command: 'run "$EVERDICT_PARAM_DEPTH"' });
    expect(referenceFaults(spec)).toEqual([
      { path: 'setup[1]', message: '$EVERDICT_MODLE does not exist; did you mean $EVERDICT_MODEL?' },
      {
        path: 'command',
        message: expect.stringMatching(/^\$EVERDICT_PARAM_DEPTH does not exist, which `params` does not declare; /),
      },
    ]);
  });

  test('leaves a harness without scripts alone', () => {
    const spec = HarnessSpec.parse({ kind: 'process', id: 'p', version: '1', entrypoint: ['/agent', '$EVERDICT_X'] });
    expect([referenceFaults(spec), namesTask(spec)]).toEqual([[], false]);
  });
});

describe('namesTask', () => {
  test.each([
    ['echo "$EVERDICT_TASK"', true],
    ['printenv EVERDICT_TASK', true],
    ['node -e "console.log(process.env.EVERDICT_TASK)"', true],
    ['cat "$EVERDICT_TASK_FILE"', false],
    ['true', false],
  ])('of %s', (command, want) => {
    expect(namesTask(aHarness({ command }))).toBe(want);
  });
});

test('a parameter is read from a variable in capitals', () => {
  expect(paramVariable('max-steps')).toBe('EVERDICT_PARAM_MAX_STEPS');
});
