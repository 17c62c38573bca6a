import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { VERSION } from '../config/version.js';
import { findDataDir, furnish, openDataDir, readMarker, requireUsable, writeMarker } from './data-dir.js';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'everdict-data-')));
const mounts: string[] = [];
afterAll(() => {
  for (const mount of mounts) spawnSync('umount', [mount]);
  rmSync(root, { recursive: true, force: true });
});

function aDir(name: string): string {
  const dir = path.join(root, name);
  mkdirSync(dir);
  return dir;
}

test('an empty directory, or none, becomes ours and says so', () => {
  for (const dir of [aDir('empty'), path.join(root, 'some/new')]) {
    const paths = openDataDir(dir);
    requireUsable(paths);
    furnish(paths);
    expect(readMarker(openDataDir(dir))).toEqual({ everdict: VERSION });
  }
});

test('a directory of somebody else is refused and left as it is', () => {
  const dir = aDir('foreign');
  writeFileSync(path.join(dir, 'thesis.tex'), '');
  expect(() => openDataDir(dir)).toThrow(`${dir} is not empty and no data directory of Everdict: choose another --dir`);
  expect(readdirSync(dir)).toEqual(['thesis.tex']);
});

test('one that holds only what we make becomes ours, as after a move or with a disk of its own for the jobs', () => {
  const dir = aDir('prepared');
  mkdirSync(path.join(dir, 'state'));
  furnish(openDataDir(dir));
  expect(readdirSync(dir).sort()).toEqual(['everdict.json', 'logs', 'state']);
});

test('a data directory is known by its own name, also through a link', () => {
  const paths = openDataDir(aDir('linked'));
  expect(findDataDir(paths.dir)).toBeUndefined();
  furnish(paths);
  symlinkSync(paths.dir, path.join(root, 'link'));
  expect(findDataDir(path.join(root, 'link'))).toEqual(paths);
  expect(findDataDir(path.join(root, 'nowhere'))).toBeUndefined();
});

test('a file in place of the directory is named', () => {
  const file = path.join(root, 'file');
  writeFileSync(file, '');
  expect(() => openDataDir(file)).toThrow(`${file} is a file, and no directory for data: choose another --dir`);
  expect(() => openDataDir(path.join(file, 'below'))).toThrow(`${file}/below cannot be made (ENOTDIR)`);
});

test('data of a newer version is refused, with both versions', () => {
  const paths = openDataDir(aDir('newer'));
  furnish(paths);
  writeMarker(paths, { everdict: '99.0.0' });
  expect(() => requireUsable(paths)).toThrow(`written by Everdict 99.0.0, and this is ${VERSION}: run that version`);
});

test('a marker that was cut off still says that the directory is ours', () => {
  const paths = openDataDir(aDir('cut'));
  furnish(paths);
  writeFileSync(paths.marker, '{"everd');
  requireUsable(openDataDir(paths.dir));
  expect(readMarker(paths)).toEqual({ everdict: VERSION });
});

const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? test : test.skip;

function aMount(name: string, options: string): string {
  const dir = aDir(name);
  expect(spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir])).toMatchObject({ status: 0 });
  mounts.push(dir);
  return dir;
}

asRoot('too little room is told with both figures before anything is written', () => {
  const paths = openDataDir(aMount('full', 'size=1m'));
  expect(() => requireUsable(paths)).toThrow(/^only [01] MB are free where .*\/full is, and 64 MB are needed/);
  expect(existsSync(paths.marker)).toBe(false);
});

asRoot('a directory that cannot be written is told before anything is tried', () => {
  const paths = openDataDir(aMount('locked', 'size=100m,ro'));
  expect(() => requireUsable(paths)).toThrow(`no permission to write in the data directory ${paths.dir} (EROFS)`);
});
