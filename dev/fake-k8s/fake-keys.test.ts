import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseKubeconfig } from '../../backends/k8s/kubeconfig.js';
import { keptKeys, writeKubeconfig } from './fake-keys.js';

const dir = mkdtempSync(path.join(tmpdir(), 'fake-keys-'));

afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('what was registered with the keys of one start goes on to work after the next', () => {
  const keys = keptKeys(path.join(dir, 'a'));
  expect(keptKeys(path.join(dir, 'a'))).toEqual(keys);
  expect(keptKeys(path.join(dir, 'b')).token).not.toBe(keys.token);
  expect(statSync(path.join(dir, 'a', 'token')).mode & 0o777).toBe(0o600);

  const file = writeKubeconfig(path.join(dir, 'a'), 'https://127.0.0.1:1', keys);
  expect(parseKubeconfig(readFileSync(file, 'utf8'), { allowHost: false })).toMatchObject({
    cluster: { server: 'https://127.0.0.1:1' },
  });
});
