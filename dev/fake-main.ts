import { aborted, onInterrupt } from './interrupt.js';

const LOOK_MS = 1_000;

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs a fake as a program of its own: `undefined` as options asks how it is called. */
export async function fakeMain<Options>(
  usage: string,
  optionsOf: (args: string[]) => Options | undefined,
  run: (options: Options) => Promise<void>,
): Promise<void> {
  let options: Options | undefined;
  try {
    options = optionsOf(process.argv.slice(2));
  } catch (error) {
    fail(error, `\n${usage}\n`);
    return;
  }
  if (options === undefined) say(usage);
  else await run(options).catch((error: unknown) => fail(error, ''));
}

export function numberOf(name: string, text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new Error(`--${name} is ${JSON.stringify(text)}, not a number`);
  return Number(text);
}

/** Until Ctrl-C, or, where that is wished, until what started it has ended. */
export async function untilOver(endsWithParent: boolean): Promise<void> {
  const interrupt = onInterrupt(say);
  await Promise.race([aborted(interrupt.signal), ...(endsWithParent ? [orphaned()] : [])]);
  interrupt.restore();
}

function orphaned(): Promise<void> {
  const parent = process.ppid;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve();
    }, LOOK_MS);
    timer.unref();
  });
}

function fail(error: unknown, hint: string): void {
  process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n${hint}`);
  process.exitCode = 3;
}
