import type { Command } from 'commander';
import { optionsOf, wholeNumber, withExamples } from './options.js';
import { readTrials } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { trialsText } from './trials-text.js';

export function addScorecardTrials(group: Command, terminal: Terminal): void {
  const command = group
    .command('trials <id>')
    .description('how often a case passes once (pass@1) and every time (pass^k), and which are flaky')
    .option('--limit <n>', 'list at most so many flaky cases, and pass^k up to it', wholeNumber(1, 1_000), 20)
    .action(async (id: string, _options, self: Command) => {
      const { limit, ...options } = optionsOf<{ limit: number }>(self);
      const session = new Session(terminal, options);
      const { reply, raw } = await readTrials(session, id);
      session.answer(raw, () => trialsText(reply, limit, session.columns));
    });
  withExamples(command, ['scorecard trials sc_01m8m7z2mcgj6c2k0b0csy3x2x']);
}
