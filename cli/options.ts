import { type Command, InvalidArgumentError, Option } from 'commander';
import type { GlobalOptions } from './session.js';

/** For options that may be given several times. */
export const collect = (value: string, earlier: string[] = []): string[] => [...earlier, value];

/** `--param name=value`, several times; the value may hold more `=`. */
export function collectPair(value: string, earlier: Record<string, string> = {}): Record<string, string> {
  const at = value.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('write it as name=value.');
  return { ...earlier, [value.slice(0, at)]: value.slice(at + 1) };
}

export const wholeNumber =
  (min: number, max = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `${min} to ${max}`;
    throw new InvalidArgumentError(`it is a whole number, ${range}.`);
  };

/** A part of 1. */
export function share(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('it is a number from 0 to 1.');
}

function httpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text;
  throw new InvalidArgumentError('it is an http(s) URL.');
}

/** `--url`, `--workspace` and `--json`, accepted anywhere on the line. */
export function globalOptions(): Option[] {
  return [
    new Option(
      '--url <url>',
      'where the platform is (default: EVERDICT_URL, else that of the last login, else http://127.0.0.1:8787)',
    ).argParser(httpUrl),
    new Option('--workspace <id>', 'which workspace to act in (default: EVERDICT_WORKSPACE, else that of the login)'),
    new Option('--json', 'answer with one JSON document on stdout and nothing else'),
  ];
}

/** Options that a command needs. Commander asks for its own before it looks for unknown ones, and calls a mistyped one missing. */
export function requireOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) command.addOption(option);
  return command.hook('preAction', (_command, acting) => {
    if (acting !== command) return;
    const missing = options.filter((option) => command.getOptionValue(option.attributeName()) === undefined);
    const flags = missing.map((option) => `'${option.flags}'`).join(' and ');
    if (flags) command.error(`required ${missing.length > 1 ? 'options' : 'option'} ${flags} not specified`);
  });
}

/** Command lines, the words after `everdict`, at the end of a command's help. */
export const withExamples = (command: Command, lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  npx everdict ${line}`).join('\n')}`);

export function listOptions(command: Command): Command {
  return command
    .option('--limit <n>', 'at most so many', wholeNumber(1), 100)
    .option('--cursor <cursor>', 'go on where an earlier list ended');
}

/** The command's own options and the global ones. */
export const optionsOf = <Options extends object>(command: Command): Options & GlobalOptions =>
  command.optsWithGlobals<Options & GlobalOptions>();
