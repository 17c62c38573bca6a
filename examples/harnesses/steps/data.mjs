const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function merge(base, override) {
  const merged = { ...base };
  for (const [key, value] of Object.entries(override)) {
    if (value === null) delete merged[key];
    else merged[key] = isObject(value) && isObject(merged[key]) ? merge(merged[key], value) : value;
  }
  return merged;
}

/** Pairs of path and leaf; array positions count as path parts. */
function leaves(value, path = []) {
  if (typeof value !== 'object' || value === null) return [[path.join('/'), value]];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Splits one CSV line; a quoted field may hold commas and doubled quotes. */
function fields(line) {
  const found = line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...found].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);
}

function rows(lines) {
  const [header, ...rest] = lines.map(fields);
  return rest.map((row) => Object.fromEntries(header.map((key, i) => [key, row[i]])));
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

export const dataSteps = {
  'json/sum-orders': ({ json }) => {
    const items = json('orders.json').flatMap(({ status, items }) => (status === 'cancelled' ? [] : items));
    return sum(items.map(({ price, quantity }) => price * quantity)).toFixed(2);
  },
  'json/active-emails': ({ json }) => {
    const emails = json('users.json').flatMap(({ email, active }) => (active ? [email.toLowerCase()] : []));
    return JSON.stringify({ count: emails.length, emails: emails.sort() });
  },
  'json/merge-config': ({ json, write }) =>
    write('merged.json', JSON.stringify(merge(json('base.json'), json('override.json')), null, 2)),
  'json/flatten-keys': ({ json, write }) => {
    const sorted = leaves(json('tree.json')).sort(([a], [b]) => (a < b ? -1 : 1));
    write('flat.json', JSON.stringify(Object.fromEntries(sorted)));
  },
  'json/filter-lines': ({ lines, write }) => {
    const errors = lines('events.jsonl').filter((line) => JSON.parse(line).level === 'error');
    write('errors.jsonl', `${errors.join('\n')}\n`);
    return errors.length;
  },
  'json/broken-line': ({ lines }) => lines('events.jsonl').findIndex((line) => !isJson(line)) + 1,
  'json/bump-version': ({ json, write }) => {
    const manifest = json('package.json');
    const [major, minor] = manifest.version.split('.').map(Number);
    write('package.json', `${JSON.stringify({ ...manifest, version: `${major}.${minor + 1}.0` }, null, 2)}\n`);
  },
  'csv/to-json': ({ lines, write }) => write('people.json', JSON.stringify(rows(lines('people.csv')))),
  'csv/average-column': ({ lines }) => {
    const good = rows(lines('timings.csv')).filter(({ ok }) => ok === 'yes');
    return (sum(good.map(({ ms }) => Number(ms))) / good.length).toFixed(2);
  },
  'csv/join-tables': ({ lines, write }) => {
    const teams = new Map(rows(lines('teams.csv')).map(({ id, team }) => [id, team]));
    const known = rows(lines('users.csv')).filter((user) => teams.has(user.team_id));
    const joined = known.map((user) => `${user.name},${teams.get(user.team_id)}\n`);
    write('joined.csv', joined.sort().join(''));
  },
  'csv/sales-by-month': ({ lines }) => {
    const months = {};
    for (const { date, amount } of rows(lines('sales.csv'))) {
      const month = date.slice(0, 7);
      months[month] = (months[month] ?? 0) + Number(amount);
    }
    return JSON.stringify({ total: sum(Object.values(months)), months });
  },
};
