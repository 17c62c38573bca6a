import fs from 'node:fs';

/** Orders targets so that each comes after what it depends on. */
function buildOrder(lines) {
  const needs = new Map(lines.map((line) => line.split(':')).map(([target, rest]) => [target, rest.split(' ')]));
  const order = new Set();
  const visit = (target) => {
    for (const need of needs.get(target).filter(Boolean)) visit(need);
    order.add(target);
  };
  for (const target of needs.keys()) visit(target);
  return [...order];
}

export const shellSteps = {
  'shell/make-tree': ({ sh }) => {
    sh('mkdir -p src/lib test && : > src/lib/index.txt && echo todo > test/plan.txt');
  },
  'shell/make-executable': ({ sh }) => {
    sh(`find bin -type f -exec sh -c 'test "$(head -c 2 "$1")" = "#!" && chmod +x "$1"' sh {} \\;`);
  },
  'shell/largest-file': ({ sh }) => {
    const files = sh('find data -type f').trim().split('\n');
    return files.sort((a, b) => fs.statSync(b).size - fs.statSync(a).size)[0];
  },
  'shell/missing-files': ({ lines }) => {
    const missing = lines('manifest.txt').filter((path) => !fs.existsSync(path));
    process.exitCode = missing.length;
    return missing.sort().join('\n');
  },
  'build-order': ({ lines, write }) => write('order.txt', `${buildOrder(lines('deps.txt')).join('\n')}\n`),
  'check-turns-green': ({ edit, sh }) => {
    edit('settings.env', 'MODE=loose', 'MODE=strict');
    sh('. ./settings.env && mkdir -p "$CACHE_DIR"');
    // A check that still fails throws here, which ends this program with a code other than 0.
    sh('sh ./check.sh');
  },
  'slow/wait-for-report': ({ sh, lines }) => {
    sh('sh ./report.sh');
    return lines('report.txt')
      .find((line) => line.startsWith('total: '))
      .slice('total: '.length);
  },
  'slow/paged-export': ({ sh }) => {
    const fetchPage = (number) => JSON.parse(sh(`sh ./fetch-page.sh ${number}`));
    const pages = [fetchPage(1)];
    while (pages.at(-1).next !== null) pages.push(fetchPage(pages.at(-1).next));
    return JSON.stringify({ pages: pages.length, items: pages.flatMap(({ items }) => items) });
  },
};
