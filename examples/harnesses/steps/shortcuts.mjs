import { dataSteps } from './data.mjs';

/** What an agent in a hurry gets wrong, each in the way real agents do. `expected.json` holds the outcomes. */
export const shortcuts = {
  /** Reads the file and never answers. */
  'text/longest-line': ({ lines }) => {
    lines('notes.txt');
  },
  /** Gives up with an exit code of its own. */
  'text/crlf-to-lf': ({ note }) => {
    note('no dos2unix here, giving up');
    process.exitCode = 3;
  },
  /** The right JSON, wrapped in chatter. */
  'csv/sales-by-month': (tools) => `Sure! Here is the JSON:\n${dataSteps['csv/sales-by-month'](tools)}`,
  /** Fixes the order of sorting and forgets the rest of the task. */
  'code/fix-median': ({ edit }) => edit('median.cjs', '.sort()', '.sort((a, b) => a - b)'),
  /** Floating point where only exact digits will do. */
  'math/big-sum': ({ task }) => {
    const [a, b] = task.match(/\d+/g).map(Number);
    return a + b;
  },
  /** Simple interest instead of compound interest. */
  'math/compound-interest': ({ task }) => {
    const [deposit, percent, years] = task.match(/\d+(\.\d+)?/g).map(Number);
    return (deposit * (1 + (percent / 100) * years)).toFixed(2);
  },
  /** Thinks until the time is up. */
  'logic/knights-and-knaves': () => new Promise((resolve) => setTimeout(resolve, 3_600_000)),
};
