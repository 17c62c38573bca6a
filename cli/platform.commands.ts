import type { Command } from 'commander';
import { z } from 'zod';
import { VERSION } from '../config/version.js';
import { optionsOf } from './options.js';
import { Session, type Terminal } from './session.js';
import { plain } from './text.js';

const Readiness = z.object({ checks: z.array(z.object({ name: z.string(), status: z.string() })) });
const Document = z.object({ info: z.object({ version: z.string() }) });

/** `status` and `version`: of the platform that commands speak to. */
export function addPlatformCommands(program: Command, terminal: Terminal): void {
  program
    .command('status')
    .description('whether the platform and everything it needs answers; exit code 4 if not')
    .action(async (_options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.get('/readyz', Readiness);
      session.answer(raw, () => {
        const checks = reply.checks.map(({ name, status }) => `  ${plain(name)}: ${plain(status)}\n`);
        return `the platform at ${session.client.url} is ready\n${checks.join('')}`;
      });
    });
  program
    .command('version')
    .description('version of this command and of the platform')
    .action(async (_options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { url } = session.client;
      // Before the platform is asked, which may not answer.
      if (!session.isJson) terminal.out.write(`everdict ${VERSION}\n`);
      const { info } = (await session.client.get('/openapi.json', Document)).reply;
      session.answer(
        { command: VERSION, platform: info.version, url },
        () => `platform ${plain(info.version)} at ${url}\n`,
      );
      if (info.version !== VERSION)
        session.note('note: the versions differ; what one of them does not know is an error');
    });
}
