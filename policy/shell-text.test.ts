import { expandedText } from './shell-text.js';

const names = (script: string): string[] => expandedText(script).match(/\$\w+/g) ?? [];

test.each([
  ['plain words and double quotes', 'echo $A "$B it\'s $C"', ['$A', '$B', '$C']],
  ['no single quotes', `echo '$A' $B 'it' $C`, ['$B', '$C']],
  ['no comments', "# $A isn't\necho $B # $C\necho $D;# $E\n$F", ['$B', '$D', '$F']],
  ['a # within a word', `echo a#$A \${#B} $#`, ['$A']],
  ['no escaped dollar', 'echo \\$A "\\$B \\" $C" \\\\$D', ['$C', '$D']],
  ['an apostrophe that is escaped, or between double quotes', `echo \\'$A\\' "'$B'"`, ['$A', '$B']],
  ['a here-document', "cat <<END >$A\nit's $B # $C \\$D\nEND\necho '$E' $F", ['$A', '$B', '$C', '$F']],
  ['no here-document whose end is quoted', "cat <<-'END'; echo $A\n$B\n\tEND\n$C", ['$A', '$C']],
  ['two here-documents on one line', 'cat <<A <<"B"\n$X\nA\n$Y\nB\n$Z', ['$X', '$Z']],
  ['a here-document without an end', 'cat <<END\n$A', ['$A']],
  ['quotes that are not closed', `echo "$A`, ['$A']],
  ['an apostrophe that is not closed', `echo it's $A`, ['$A']],
])('a shell expands %s', (_title, script, want) => {
  expect(names(script)).toEqual(want);
});

test.each(['<<A ', "'", '"', '\\', '"\\', '#', "<<'A'\n", 'x\n'])(
  'a script of many %j is read in one pass',
  (piece) => {
    const script = piece.repeat(262_144 / piece.length);
    expect(expandedText(script).length).toBeLessThanOrEqual(script.length);
  },
);
