import { type Command, Option } from 'commander';
import { askedPolicy } from './ci/policy.js';
import { exitCodeOfVerdict } from './exit-codes.js';
import { gateText } from './gate-text.js';
import { jsonBody } from './http.client.js';
import { optionsOf, requireOptions, wholeNumber, withExamples } from './options.js';
import { Session, type Terminal } from './session.js';
import { GateReply } from './verdict-wire.js';
import { follow } from './watch.js';

const EXIT_CODES = `
Exit codes:
  0    pass: every rule holds
  1    block: a rule does not hold, whatever is still unknown
  2    cannot tell: inconclusive, blocked_missing or not_comparable
  3    wrong usage, or the platform refused the input
  4    the platform cannot be reached`;

interface GateOptions {
  policy: string;
  baseline?: string;
  on?: string;
  wait?: boolean;
  patience: number;
}

export function addScorecardGate(group: Command, terminal: Terminal): void {
  const needed = [new Option('--policy <policy>', 'a registered policy (id or id@version), or a .json file of rules')];
  const command = requireOptions(group.command('gate <candidate>'), needed)
    .description('judge a finished scorecard by a policy; the exit code is the verdict')
    .option('--baseline <baseline>', 'a scorecard, or the name of a pinned one; rules about regressions need it')
    .addOption(
      new Option('--on <cases>', 'which cases to compare (default: all, and call others not comparable)').choices([
        'all',
        'intersection',
      ]),
    )
    .option('--wait', 'wait for the end of the candidate first')
    .option('--patience <seconds>', 'with --wait: give up after so long without an answer', wholeNumber(1), 300)
    .addHelpText('after', EXIT_CODES)
    .action(async (candidate: string, _options, self: Command) => {
      const options = optionsOf<GateOptions>(self);
      const { baseline, on, wait, patience } = options;
      const session = new Session(terminal, options);
      const policy = await askedPolicy(options.policy);
      if (wait) await follow(session, candidate, patience * 1_000);
      const body = jsonBody({ candidate, baseline, policy, on });
      const { reply, raw } = await session.client.post('/scorecards/gate', GateReply, { body });
      session.answer(raw, () => gateText(reply));
      terminal.setExitCode(exitCodeOfVerdict(reply.effective));
    });
  withExamples(command, [
    'scorecard gate --policy merge --baseline main sc_01m8m7z2mcgj6c2k0b0csy3x2x',
    'scorecard gate --policy examples/policies/merge.json --baseline main --wait sc_01m8m7z2mcgj6c2k0b0csy3x2x',
  ]);
}
