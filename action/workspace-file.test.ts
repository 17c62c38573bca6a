import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { workspaceFile } from './workspace-file.js';

const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'everdict-workspace-')));
afterAll(() => rmSync(dir, { recursive: true }));

const workspace = path.join(dir, 'w');
mkdirSync(path.join(workspace, 'ci'), { recursive: true });
writeFileSync(path.join(workspace, 'ci/policy.json'), '{}');
writeFileSync(path.join(dir, 'secret.json'), 'hunter2');
symlinkSync(path.join(dir, 'secret.json'), path.join(workspace, 'link.json'));
symlinkSync('ci/policy.json', path.join(workspace, 'inner.json'));
symlinkSync(workspace, path.join(dir, 'entrance'));

test.each([
  [workspace, 'ci/policy.json'],
  [workspace, './ci/../inner.json'],
  [workspace, path.join(workspace, 'ci/policy.json')],
  [path.join(dir, 'entrance'), 'ci/policy.json'],
  [path.join(dir, 'entrance'), '..not-there.json'],
])('in %s, %s is of the workspace', (root, given) => {
  expect(workspaceFile(root, 'policy', given)).toBe(path.resolve(workspace, given));
});

test.each(['/etc/passwd', '../secret.json', 'link.json', 'ci/../../secret.json', '/'])('%s is refused', (given) => {
  expect(() => workspaceFile(workspace, 'policy', given)).toThrow(
    'the input policy names a file that is not of the workspace',
  );
});
