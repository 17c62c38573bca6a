import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DockerfileParser, type From } from 'dockerfile-ast';
import { parse } from 'yaml';
import { z } from 'zod';
import { ENV_NAMES, readEnv } from '../../config/env.js';

/*
 * There is no Docker engine where these tests run, so the files are read and held against each other, and against what
 * the build makes and the processes read.
 */

const COMPOSE = 'docker-compose.temporal.yml';
const text = (file: string): string => readFileSync(file, 'utf8');

const Condition = z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully']) });
const Service = z.looseObject({
  image: z.string(),
  build: z.strictObject({ context: z.literal('.'), target: z.string() }).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  healthcheck: z.looseObject({ test: z.array(z.string()).min(2) }).optional(),
  depends_on: z.record(z.string(), Condition).default({}),
  restart: z.string(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
});
type Service = z.infer<typeof Service>;

const compose = z
  .looseObject({ services: z.record(z.string(), Service), volumes: z.record(z.string(), z.unknown()) })
  .parse(parse(text(COMPOSE), { merge: true }));
const services = Object.entries(compose.services);
/** Those that run once and end. */
const ONCE = ['temporal-schema', 'temporal-namespace'];
const OURS = ['api', 'worker'];

const dockerfile = DockerfileParser.parse(text('Dockerfile'));
const instructions = dockerfile.getInstructions();
const stages = dockerfile.getFROMs();
const stageNames = stages.map((from) => from.getBuildStage() ?? '');

/** The instructions of a stage and of those that it is made from. */
function instructionsOf(name: string): { keyword: string; words: string[] }[] {
  const from = stages.find((stage) => stage.getBuildStage() === name);
  if (!from) return [];
  const begin = instructions.indexOf(from);
  const rest = instructions.slice(begin + 1);
  const end = rest.findIndex((instruction) => instruction.getKeyword() === 'FROM');
  const own = (end < 0 ? rest : rest.slice(0, end)).map((instruction) => ({
    keyword: instruction.getKeyword(),
    words: instruction.getTextContent().split(/\s+/).slice(1),
  }));
  return [...instructionsOf(baseOf(from)), ...own];
}

const baseOf = (from: From): string => from.getImage() ?? '';
const jsonOf = (name: string, keyword: string): string[] => {
  const last = instructions
    .filter((instruction) => instruction.getKeyword() === keyword)
    .find((instruction) => stageAt(instruction.getRange().start.line) === name);
  return last ? JSON.parse(/\[.*\]/s.exec(last.getTextContent())?.[0] ?? '[]') : [];
};
const stageAt = (line: number): string | undefined =>
  stages.findLast((from) => from.getRange().start.line < line)?.getBuildStage() ?? undefined;

describe('docker-compose.temporal.yml', () => {
  test.each(services)('%s comes from an image of one version, or from a target of the Dockerfile', (_name, service) => {
    if (service.build) expect(stageNames).toContain(service.build.target);
    else expect(service.image).toMatch(/^[a-z/-]+:\d+\.\d+(\.\d+)?(-[a-z]+)?$/);
  });

  test.each(services)(
    '%s waits for what it needs, which tells when it is there',
    (name, { depends_on, healthcheck }) => {
      expect([name, healthcheck !== undefined]).toEqual([name, !ONCE.includes(name)]);
      for (const [needed, { condition }] of Object.entries(depends_on)) {
        const isOnce = ONCE.includes(needed);
        expect([needed, needed in compose.services, condition]).toEqual([
          needed,
          true,
          isOnce ? 'service_completed_successfully' : 'service_healthy',
        ]);
      }
    },
  );

  test.each(OURS)('%s is given only variables that it reads', (name) => {
    const given = Object.keys(compose.services[name]?.environment ?? {});
    expect(given.length).toBeGreaterThan(4);
    expect(given.filter((variable) => !ENV_NAMES.includes(variable))).toEqual([]);
  });

  test.each(OURS)('%s starts with what it is given', (name) => {
    const given = Object.entries(compose.services[name]?.environment ?? {}).map(([variable, value]) => [
      variable,
      value
        .replace(/\$\{EVERDICT_SECRETS_KEY:\?[^}]+\}/, `k1:${Buffer.alloc(32).toString('base64')}`)
        .replaceAll(/\$\{\w+:\?[^}]+\}/g, 'a'.repeat(64))
        .replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'),
    ]);
    expect(() => readEnv(Object.fromEntries(given))).not.toThrow();
  });

  test('holds no secret: what is one has to be given, and starting without it says so', () => {
    const secrets = services.flatMap(([name, { environment }]) =>
      Object.entries(environment)
        .filter(([variable]) => /PASSWORD|PWD|KEY|DATABASE_URL/.test(variable))
        .map(([variable, value]) => `${name} ${variable}: ${value}`),
    );
    expect(secrets.length).toBeGreaterThanOrEqual(7);
    expect(secrets.filter((line) => !/\$\{[A-Z_]+:\?[^}]+\}/.test(line))).toEqual([]);
  });

  test('every variable that it asks for is in .env.example, without a value', () => {
    const asked = new Set([...text(COMPOSE).matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name = '']) => name));
    const example = text('.env.example');
    for (const name of asked) expect(example).toMatch(new RegExp(`^${name}=$`, 'm'));
  });

  test('opens ports to this host only', () => {
    const ports = services.flatMap(([, service]) => service.ports);
    expect(ports.map((port) => port.replace(/^\$\{\w+:-(.*)\}/, '$1').split(':')[0])).toEqual([
      '127.0.0.1',
      '127.0.0.1',
    ]);
  });

  test('keeps the database in a volume that is declared, where this version of Postgres has it', () => {
    const { volumes, image } = compose.services.postgres as Service;
    expect([image, volumes]).toEqual([expect.stringMatching(/^postgres:18\./), ['postgres:/var/lib/postgresql']]);
    expect(Object.keys(compose.volumes)).toEqual(['postgres']);
  });
});

describe('the Dockerfile', () => {
  test('is made of stages that exist, from one Node.js 20', () => {
    const bases = stages.map(baseOf);
    expect(bases.filter((base) => !stageNames.includes(base))).toEqual(['node:20.20.2-bookworm-slim']);
    expect(stageNames).toEqual(expect.arrayContaining(OURS));
  });

  test('copies what is there', () => {
    for (const name of stageNames) {
      for (const { words } of instructionsOf(name).filter(({ keyword }) => keyword === 'COPY')) {
        const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
        const sources = words.filter((word) => !word.startsWith('--')).slice(0, -1);
        if (from !== undefined) expect([from, sources]).toEqual(['build', ['/app/dist']]);
        else expect(sources.filter((source) => !existsSync(source))).toEqual([]);
      }
    }
    const ignored = text('.dockerignore').split('\n');
    for (const secret of ['.env', '.git', '.everdict', 'node_modules']) expect(ignored).toContain(secret);
    for (const needed of ['api', 'cli', 'wrapper', 'migrations', 'nest-cli.json'])
      expect(ignored).not.toContain(needed);
  });

  test.each([
    ['api', 'api/main'],
    ['worker', 'workers/main'],
  ])('%s runs a program that the build makes, as nobody special, without developers’ packages', (name, program) => {
    const all = instructionsOf(name);
    expect(jsonOf(name, 'CMD')).toEqual(['node', `dist/${program}.js`]);
    expect(existsSync(path.join(`${program}.ts`))).toBe(true);
    expect(jsonOf(name, 'HEALTHCHECK')[0]).toBe('node');
    expect(all.filter(({ keyword }) => keyword === 'USER').map(({ words }) => words)).toEqual([['node']]);
    expect(all.some(({ words }) => words.join(' ').includes('npm ci --omit=dev'))).toBe(true);
    const variables = all.filter(({ keyword }) => keyword === 'ENV').flatMap(({ words }) => words);
    const names = variables.map((word) => word.split('=')[0] ?? '').filter((variable) => variable !== 'NODE_ENV');
    expect(names.filter((variable) => !ENV_NAMES.includes(variable))).toEqual([]);
  });
});
