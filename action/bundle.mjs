/*
 * Makes `action/dist/index.js`, the one file that GitHub runs, out of `action/main.ts` and all that it imports. It is
 * committed, since nothing is installed where an action runs; with `--check` it is only compared with its source.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FILE = fileURLToPath(new URL('dist/index.js', import.meta.url));

const { outputFiles } = await build({
  absWorkingDir: ROOT,
  entryPoints: ['action/main.ts'],
  bundle: true,
  write: false,
  outfile: FILE,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // Names of classes and functions stay for whoever reads a stack trace.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'inline',
  // Some of what is bundled is CommonJS and asks for Node's own modules.
  banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" },
});
const [{ text }] = outputFiles;

if (process.argv[2] !== '--check') {
  writeFileSync(FILE, text);
} else if (text !== readFileSync(FILE, 'utf8')) {
  process.stderr.write(
    'action/dist/index.js is not what its source makes: run `npm run bundle:action` and commit it\n',
  );
  process.exitCode = 1;
}
