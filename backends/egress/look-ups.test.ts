import type { LookupAddress } from 'node:dns';
import { LookUps } from './look-ups.js';

const ADDRESS = [{ address: '192.0.2.1', family: 4 }];

test('slow name servers hold two look-ups, and who waits for them is told in time', async () => {
  const asked: string[] = [];
  const answers: ((found: LookupAddress[]) => void)[] = [];
  const slow = (name: string): Promise<LookupAddress[]> => {
    asked.push(name);
    return new Promise((answer) => answers.push(answer));
  };
  const lookUps = new LookUps(slow, 30);
  const late = ['a', 'b', 'c', 'd'].map((name) => lookUps.find(name));
  for (const one of late) await expect(one).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  expect(asked).toEqual(['a', 'b']);

  const next = lookUps.find('e');
  for (const answer of answers) answer([]);
  await new Promise(setImmediate);
  expect(asked).toEqual(['a', 'b', 'e']);
  answers.at(-1)?.(ADDRESS);
  expect(await next).toEqual(ADDRESS);
});

test('a name that is not known frees its place', async () => {
  const unknown = Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
  const lookUps = new LookUps(async (name) => (name === 'known' ? ADDRESS : Promise.reject(unknown)));
  const names = Array.from({ length: 5 }, (_, index) => lookUps.find(`x${index}`).catch(({ code }) => code));
  expect(await Promise.all(names)).toEqual(Array(5).fill('ENOTFOUND'));
  expect(await lookUps.find('known')).toEqual(ADDRESS);
});
