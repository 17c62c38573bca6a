import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';

const isSource = import.meta.url.endsWith('.ts');
const WORKFLOWS = fileURLToPath(new URL(`../workflows/index.${isSource ? 'ts' : 'js'}`, import.meta.url));
/** Made by the build, from this very version of the code. */
const BUILT = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));

/** The workflows as one file for their sandbox: the one of the build, else made now. */
export async function workflowBundle(): Promise<WorkflowBundleOption> {
  return !isSource && existsSync(BUILT) ? { codePath: BUILT } : { code: await makeBundle() };
}

export async function makeBundle(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: WORKFLOWS,
    logger: QUIET,
    // Imports name the built files, here and in the sources.
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, extensionAlias: { '.js': ['.ts', '.js'] } },
    }),
  });
  return code;
}

const ignore = (): void => {};
const QUIET = {
  log: ignore,
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: (message: string) => process.stderr.write(`${message}\n`),
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(BUILT, await makeBundle());
