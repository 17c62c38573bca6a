/** What a scrape says: values by series, and the type of each metric. */
export interface Scrape {
  types: Map<string, string>;
  /** By name and labels, as `name{a="x",b="y"}` with labels in alphabetical order, or the bare name. */
  values: Map<string, number>;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;
const SUFFIXES: Record<string, readonly string[]> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/** Reads the text format, version 0.0.4, and throws at the first thing that is not allowed in it. */
export function parseScrape(text: string): Scrape {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const types = new Map<string, string>();
  const values = new Map<string, number>();
  const done = new Set<string>();
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    if (line.startsWith('#')) {
      const [, keyword = '', name = '', ...rest] = line.split(' ');
      if (keyword !== 'HELP' && keyword !== 'TYPE') continue;
      if (!NAME.test(name)) throw new Error(`no name: ${line}`);
      if (name !== current && done.has(name)) throw new Error(`the lines of ${name} are not together`);
      current = name;
      done.add(name);
      if (keyword === 'HELP') continue;
      if (types.has(name)) throw new Error(`${name} has two types`);
      if (!Object.hasOwn(SUFFIXES, rest.join(' '))) throw new Error(`no type: ${line}`);
      types.set(name, rest.join(' '));
      continue;
    }
    const { name, series, value } = parseSample(line);
    const allowed = SUFFIXES[types.get(current) ?? ''] ?? [];
    if (!allowed.some((suffix) => name === current + suffix)) throw new Error(`${line} does not belong to ${current}`);
    if (values.has(series)) throw new Error(`${series} is there twice`);
    values.set(series, value);
  }
  checkHistograms(types, values);
  return { types, values };
}

function parseSample(line: string): { name: string; series: string; value: number } {
  const [, name = '', labelText = '', number = ''] = SAMPLE.exec(line) ?? [];
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  const isNumber = number === 'NaN' || !Number.isNaN(value);
  if (name === '' || number === '' || !isNumber) throw new Error(`no sample: ${line}`);
  return { name, series: seriesOf(name, labelsIn(labelText, line)), value };
}

function labelsIn(text: string, line: string): [string, string][] {
  const found = [...text.matchAll(LABEL)];
  const length = found.reduce((sum, [whole]) => sum + whole.length, 0);
  const names = found.map(([, name = '']) => name);
  if (length !== text.length || new Set(names).size !== names.length) throw new Error(`bad labels: ${line}`);
  return found.map(([, name = '', value = '']) => [name, value]);
}

const seriesOf = (name: string, labels: readonly [string, string][]): string => {
  const sorted = labels.map(([label, value]) => `${label}="${value}"`).sort();
  return sorted.length === 0 ? name : `${name}{${sorted.join(',')}}`;
};

/** Buckets only grow, and the last one counts everything. */
function checkHistograms(types: Scrape['types'], values: Scrape['values']): void {
  const buckets = new Map<string, [number, number][]>();
  for (const [series, value] of values) {
    const [, name = '', labels = ''] = /^(.*)_bucket\{(.*)\}$/.exec(series) ?? [];
    if (types.get(name) !== 'histogram') continue;
    const bound = /(?:^|,)le="([^"]+)"/.exec(labels)?.[1] ?? '';
    const rest = labels.split(',').filter((label) => !label.startsWith('le='));
    const count = rest.length === 0 ? `${name}_count` : `${name}_count{${rest.join(',')}}`;
    const limit = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound);
    buckets.set(count, [...(buckets.get(count) ?? []), [limit, value]]);
  }
  for (const [count, list] of buckets) {
    const sorted = list.sort(([one], [other]) => one - other).map(([, value]) => value);
    const isGrowing = sorted.every((value, index) => value >= (sorted[index - 1] ?? 0));
    if (!isGrowing || sorted.at(-1) !== values.get(count)) throw new Error(`the buckets of ${count} do not add up`);
  }
}

/** The value of a series; labels in any order. */
export function sample({ values }: Scrape, name: string, labels: Record<string, string> = {}): number | undefined {
  return values.get(seriesOf(name, Object.entries(labels)));
}
