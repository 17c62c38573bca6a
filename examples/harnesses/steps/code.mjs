const SLUGIFY = `exports.slugify = (title) => {
  const plain = title.normalize('NFD').replace(/\\p{Mn}/gu, '').toLowerCase();
  return plain.split(/[^a-z0-9]+/).filter(Boolean).join('-');
};
`;

const MEDIAN = `exports.median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
`;

const ROMAN = `const VALUES = [
  [1000, 'M'], [900, 'CM'], [500, 'D'], [400, 'CD'], [100, 'C'], [90, 'XC'],
  [50, 'L'], [40, 'XL'], [10, 'X'], [9, 'IX'], [5, 'V'], [4, 'IV'], [1, 'I'],
];

exports.toRoman = (n) => {
  if (!Number.isInteger(n) || n < 1 || n > 3999) throw new RangeError('not an integer from 1 to 3999: ' + n);
  let rest = n;
  let roman = '';
  for (const [value, letters] of VALUES) {
    for (; rest >= value; rest -= value) roman += letters;
  }
  return roman;
};
`;

const MEMOIZE = `exports.memoize = (fn) => {
  const known = new Map();
  return (argument) => {
    if (!known.has(argument)) known.set(argument, fn(argument));
    return known.get(argument);
  };
};
`;

const TO_CSV = `const field = (value) => {
  const text = String(value);
  return /[",\\n\\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
};

exports.toCsv = (rows) => rows.map((row) => row.map(field).join(',')).join('\\n');
`;

export const codeSteps = {
  'code/fix-range': ({ edit }) => edit('range.cjs', 'i !== to;', 'i !== to + step;'),
  'code/fix-slugify': ({ write }) => write('slug.cjs', SLUGIFY),
  'code/fix-median': ({ write }) => write('median.cjs', MEDIAN),
  'code/fix-async-sum': ({ edit }) => {
    edit('total.mjs', 'urls.forEach(async (url) => {', 'for (const url of urls) {');
    edit('total.mjs', '  });\n', '  }\n');
  },
  'code/fix-leap-year': ({ edit }) =>
    edit('leap.cjs', 'year % 4 === 0', '(year % 4 === 0 && year % 100 !== 0) || year % 400 === 0'),
  'code/roman-numerals': ({ write }) => write('roman.cjs', ROMAN),
  'code/csv-escape': ({ write }) => write('csv.cjs', TO_CSV),
  'code/memoize': ({ write }) => write('memoize.cjs', MEMOIZE),
  'code/shell-quoting': ({ edit }) => {
    edit('count.sh', '$*', '"$@"');
    edit('count.sh', '< $file', '< "$file"');
  },
};
