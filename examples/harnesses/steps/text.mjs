/** Longest of some texts; the first one, if several are. */
const longest = (texts) => texts.reduce((best, text) => (text.length > best.length ? text : best), '');

function wrap(text, width) {
  const lines = [''];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines[lines.length - 1];
    if (last === '') lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function headings(lines) {
  let isCode = false;
  return lines.filter((line) => {
    if (line.startsWith('```')) isCode = !isCode;
    return !isCode && line.startsWith('## ');
  });
}

function countBy(items) {
  const counts = {};
  for (const item of items) counts[item] = (counts[item] ?? 0) + 1;
  return counts;
}

export const textSteps = {
  'text/sort-names': ({ sh }) => {
    sh('sort -u names.txt > sorted.txt');
  },
  'text/count-words': ({ sh }) => sh('wc -w < poem.txt').trim(),
  'text/longest-line': ({ lines }) => longest(lines('notes.txt')),
  'text/dedupe-keep-order': ({ sh }) => {
    sh(`awk '!seen[$0]++' urls.txt > urls.new && mv urls.new urls.txt`);
  },
  'text/replace-word': ({ sh, read, write }) => {
    let count = 0;
    for (const path of sh(`find docs -name '*.txt'`).trim().split('\n')) {
      const text = read(path).replace(/\bcolour\b/g, () => {
        count += 1;
        return 'color';
      });
      write(path, text);
    }
    return count;
  },
  'text/errors-by-service': ({ lines }) => {
    const fields = lines('app.log').map((line) => line.split(/\s+/));
    return JSON.stringify(countBy(fields.filter(([, level]) => level === 'ERROR').map(([, , service]) => service)));
  },
  'text/top-client': ({ sh }) =>
    sh(`cut -d ' ' -f 1 access.log | sort | uniq -c | sort -rn | awk 'NR == 1 { printf "%s", $2 }'`),
  'text/crlf-to-lf': ({ read, write }) => write('dos.txt', read('dos.txt').replaceAll('\r\n', '\n')),
  'text/png-size': ({ bytes }) => {
    const header = bytes('image.png');
    return `${header.readUInt32BE(16)}x${header.readUInt32BE(20)}`;
  },
  'text/wrap-at-40': ({ read, write }) => write('wrapped.txt', `${wrap(read('long.txt'), 40).join('\n')}\n`),
  'text/markdown-contents': ({ lines }) =>
    headings(lines('guide.md'))
      .map((line) => `- ${line.slice(3)}`)
      .join('\n'),
  'text/strip-comments': ({ sh }) => {
    sh(`sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' app.conf > clean.conf`);
  },
  'text/žluťoučký-kůň': ({ lines }) => [...lines('věty.txt')[1].normalize('NFC')].reverse().join(''),
};
