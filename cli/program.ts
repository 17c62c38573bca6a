import { Command, CommanderError } from 'commander';
import { addAudit } from './audit.command.js';
import { addBaselineCommands } from './baseline.commands.js';
import { addBootstrap } from './bootstrap.command.js';
import { addCi } from './ci.command.js';
import { addCompletion } from './completion.command.js';
import { addDevCommand } from './dev.command.js';
import { EXIT, EXIT_HELP } from './exit-codes.js';
import { CliError, describeFailure, failureDocument, usageError } from './failures.js';
import { messageOf } from './foreign-errors.js';
import { addGateCommands } from './gate.commands.js';
import { addKeyCommands } from './key.commands.js';
import { addLogin } from './login.command.js';
import { addMemberCommands } from './member.commands.js';
import { globalOptions } from './options.js';
import { addPlatformCommands } from './platform.commands.js';
import { addPolicyCommands } from './policy.commands.js';
import { addQueueCommands } from './queue.commands.js';
import { addRegistryCommands } from './registry.commands.js';
import { addRetentionCommands } from './retention.commands.js';
import { addRunCommands } from './run.commands.js';
import { addScorecardCommands } from './scorecard.commands.js';
import { addSecretCommands } from './secret.commands.js';
import type { Terminal } from './session.js';
import { addSimulate } from './simulate.command.js';
import { addWorkspaceCommands } from './workspace.commands.js';

const EXAMPLES = `
A first scorecard:
  npx everdict dev                                       # in another terminal
  npx everdict runtime add examples/runtimes/local.json
  npx everdict dataset add examples/datasets/shell-tasks.jsonl
  npx everdict harness add examples/harnesses/solver.json
  npx everdict scorecard run --dataset shell-tasks --harness solver --runtime desk`;

export function buildProgram(terminal: Terminal): Command {
  const program = new Command('everdict')
    .description('Runs agent evals on compute its users own.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out.write(text),
      writeErr: (text) => terminal.err.write(text),
      outputError: () => {},
    })
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .addHelpText('after', EXIT_HELP + EXAMPLES.replace(/^/, '\n'));
  for (const option of globalOptions()) program.addOption(option);
  program.commandsGroup('The platform:').helpCommand(true);
  addDevCommand(program, terminal);
  addPlatformCommands(program, terminal);
  addLogin(program, terminal);
  addCompletion(program, terminal);
  program.commandsGroup('Who may what:');
  addKeyCommands(program, terminal);
  addMemberCommands(program, terminal);
  addWorkspaceCommands(program, terminal);
  addRetentionCommands(program, terminal);
  addBootstrap(program, terminal);
  addAudit(program, terminal);
  program.commandsGroup('What is evaluated, with what, and where:');
  addRegistryCommands(program, terminal);
  addSecretCommands(program, terminal);
  program.commandsGroup('Evaluating:');
  addCi(program, terminal);
  addScorecardCommands(program, terminal);
  addBaselineCommands(program, terminal);
  addPolicyCommands(program, terminal);
  addGateCommands(program, terminal);
  addRunCommands(program, terminal);
  addQueueCommands(program, terminal);
  addSimulate(program, terminal);
  return program;
}

/** Runs one command line, the words after `everdict`. Whatever goes wrong ends as text, or with `--json` as JSON. */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<void> {
  try {
    await buildProgram(terminal).parseAsync(words, { from: 'user' });
  } catch (error) {
    const failure = toCliError(error);
    if (!failure) return;
    if (words.includes('--json')) terminal.out.write(`${JSON.stringify(failureDocument(failure), null, 2)}\n`);
    terminal.err.write(describeFailure(failure));
    terminal.setExitCode(failure.exitCode);
  }
}

/** Nothing for help that was asked for. */
function toCliError(error: unknown): CliError | undefined {
  if (error instanceof CliError) return error;
  if (!(error instanceof CommanderError)) {
    return new CliError(EXIT.unreachable, messageOf(error));
  }
  if (error.exitCode === 0) return undefined;
  const message = error.code === 'commander.help' ? 'a command is missing' : error.message.replace(/^error: /, '');
  return usageError(message, 'add --help to see what it takes');
}
