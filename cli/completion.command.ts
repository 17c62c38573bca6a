import { Argument, type Command } from 'commander';
import type { Terminal } from './session.js';

/** `completion`: a script that knows the commands and options of this version. */
export function addCompletion(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .description('print a script that completes commands and options')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh']))
    .addHelpText(
      'after',
      '\nExamples:\n  eval "$(npx everdict completion bash)"   # for now; for good: put it into ~/.bashrc',
    )
    .action((shell: string) => terminal.out.write(completionScript(program, shell)));
}

interface Entry {
  /** Names of the commands that lead here, each after a space; empty for the program itself. */
  path: string;
  /** What may follow: commands and long options. */
  words: string[];
}

function entriesOf(command: Command, path = ''): Entry[] {
  const visible = command.createHelp().visibleCommands(command);
  const words = [...visible.map((each) => each.name()), ...optionsOf(command), '--help'];
  return [{ path, words }, ...command.commands.flatMap((each) => entriesOf(each, `${path} ${each.name()}`))];
}

/** Those of the commands above it, too, which a command takes as its own. */
const optionsOf = (command: Command): string[] => [
  ...command.options.flatMap(({ long }) => long ?? []),
  ...(command.parent ? optionsOf(command.parent) : []),
];

function completionScript(program: Command, shell: string): string {
  const entries = entriesOf(program);
  const known = entries.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
  const cases = entries.map(({ path, words }) => `    '${path}') words='${words.join(' ')}' ;;`);
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_everdict() {
  local words= path= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in ${known.join(' | ')}) path="$path $word" ;; esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _everdict everdict
`;
}
