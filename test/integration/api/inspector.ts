import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

const require = createRequire(import.meta.url);

/** Between the answers of two commands. */
const MARK = '\u241e';

/** Runs the CLI once for each command line, in one process: its own code, its own exit, and no second start of Node. */
const DRIVER = `
const [cli, commands] = process.argv.slice(1);
const exit = process.exit;
process.setMaxListeners(0);
for (const [at, command] of JSON.parse(commands).entries()) {
  process.argv = [process.execPath, cli, ...command];
  const code = await new Promise((resolve) => {
    process.exit = resolve;
    import('file://' + cli + '?' + at);
  });
  process.stdout.write('${MARK}' + code + '${MARK}');
}
exit(0);
`;

/** What the official MCP Inspector prints for each command line, parsed. */
export async function inspect(commands: readonly (readonly string[])[]): Promise<{ code: number; said: string }[]> {
  const manifest = require.resolve('@modelcontextprotocol/inspector-cli/package.json');
  const build = path.join(path.dirname(manifest), 'build');
  const args = ['--input-type=module', '-e', DRIVER, path.join(build, 'index.js'), JSON.stringify(commands)];
  const options = { cwd: build, maxBuffer: 256 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  const parts = stdout.split(MARK);
  return commands.map((_command, at) => ({ said: parts[2 * at] ?? '', code: Number(parts[2 * at + 1]) }));
}
