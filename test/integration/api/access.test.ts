import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/internal';
import { DiscoveryService } from '@nestjs/core';
import { accessRuleOf } from '../../../api/common/requires.js';
import type { Permission } from '../../../contracts/identity.js';
import { KeyStore } from '../../../store/key.store.js';
import { WorkspaceStore } from '../../../store/workspace.store.js';
import { type AccessWorld, ROUTES, type RouteLine } from './access-table.js';
import { accessWorld, keyOf } from './access-world.js';
import { type Api, startApi } from './server.js';

const OPERATOR = 'operator-key-0123456789-0123456789';
const ALL: readonly Permission[] = ['read', 'register', 'run', 'stop', 'curate', 'administer'];

interface Actor {
  /** Absent: comes without a key. */
  key?: string;
  may: readonly Permission[];
  header?: string;
  /** Where it acts; absent: nowhere, with that status wherever a workspace is needed. */
  where?: 'team-a' | 'elsewhere';
  status?: number;
}

let api: Api;
let world: AccessWorld;
let actors: Record<string, Actor>;

beforeAll(async () => {
  api = await startApi({
    env: {
      EVERDICT_OPERATOR_KEY: OPERATOR,
      EVERDICT_TRUSTED_PROXIES: '127.0.0.0/8',
      EVERDICT_REQUESTS_PER_SEC: '0',
      EVERDICT_SECRETS_KEY: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    },
  });
  const { dataSource } = api.database;
  const keys = new KeyStore(dataSource);
  const workspaces = new WorkspaceStore(dataSource);
  await Promise.all(['team-a', 'team-b'].map((id) => workspaces.create(id)));
  const names = ['viewer', 'member', 'admin', 'ci'] as const;
  const scopes = ['read', 'write', 'admin'] as const;
  for (const role of names) {
    for (const scope of scopes) {
      await keys.create('team-a', { name: 'of a test', role, scope, createdBy: 'operator' }, keyOf(role, scope));
    }
  }
  const admin = { name: 'of a test', role: 'admin', scope: 'admin', createdBy: 'operator' } as const;
  await keys.create('team-b', admin, keyOf('admin', 'b'));
  await keys.create('team-a', { ...admin, expiresAt: new Date(Date.now() - 1_000) }, keyOf('expired'));
  const { id } = await keys.create('team-a', admin, keyOf('revoked'));
  await keys.revoke('team-a', id, false);
  actors = allActors();
  world = await accessWorld(api);
}, 60_000);
afterAll(() => api.close());

/** The table of who may what, as the documentation has it. */
function allActors(): Record<string, Actor> {
  const bad = { may: [], status: 401 };
  const member = ['read', 'register', 'run', 'stop', 'curate'] as const;
  const where = 'team-a';
  const operator = { key: OPERATOR, may: ['read', 'register', 'curate', 'administer', 'operate'] as const };
  return {
    nobody: bad,
    'an unknown key': { ...bad, key: keyOf('unknown') },
    'a revoked key': { ...bad, key: keyOf('revoked') },
    'an expired key': { ...bad, key: keyOf('expired') },
    viewer: { key: keyOf('viewer', 'admin'), may: ['read', 'register'], where },
    'viewer, write': { key: keyOf('viewer', 'write'), may: ['read', 'register'], where },
    'viewer, read': { key: keyOf('viewer', 'read'), may: ['read'], where },
    member: { key: keyOf('member', 'admin'), may: member, where },
    'member, write': { key: keyOf('member', 'write'), may: member, where },
    'member, read': { key: keyOf('member', 'read'), may: ['read'], where },
    admin: { key: keyOf('admin', 'admin'), may: ALL, where },
    'admin, write': { key: keyOf('admin', 'write'), may: member, where },
    'admin, read': { key: keyOf('admin', 'read'), may: ['read'], where },
    // What it may stop is its own, and none of this is.
    ci: { key: keyOf('ci', 'admin'), may: ['read', 'run'], where },
    'ci, write': { key: keyOf('ci', 'write'), may: ['read', 'run'], where },
    'ci, read': { key: keyOf('ci', 'read'), may: ['read'], where },
    'admin who names the own workspace': { key: keyOf('admin', 'admin'), may: ALL, where, header: 'team-a' },
    'admin of another workspace': { key: keyOf('admin', 'b'), may: ALL, where: 'elsewhere' },
    'admin of another workspace who names this one': { key: keyOf('admin', 'b'), may: ALL, header: 'team-a' },
    'admin who names _shared': { key: keyOf('admin', 'admin'), may: ALL, header: '_shared' },
    'admin who names what is not there': { key: keyOf('admin', 'admin'), may: ALL, header: 'team-z' },
    'operator in this workspace': { ...operator, where, header: 'team-a' },
    'operator in another workspace': { ...operator, where: 'elsewhere', header: 'team-b' },
    'operator in _shared': { ...operator, where: 'elsewhere', header: '_shared' },
    'operator who does not say where': { ...operator, status: 400 },
  };
}

/** Only the status is looked at: a stream does not end. Every request has a source of its own. */
let sources = 0;
async function statusOf(method: string, path: string, body: unknown, { key, header }: Actor): Promise<number> {
  sources += 1;
  const headers = {
    'x-forwarded-for': `192.0.${sources >> 8}.${sources & 255}`,
    ...(key && { authorization: `Bearer ${key}` }),
    ...(header && { 'x-everdict-workspace': header }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${api.url}${path}`, { method, headers, ...text });
  await response.body?.cancel();
  return response.status;
}

/** What the table says of an actor at a route. */
function expected(actor: Actor, { permission, ok, foreign = ok, isAnywhere = false }: RouteLine): readonly number[] {
  const all = (status: number | readonly number[]) => (typeof status === 'number' ? [status] : status);
  if (permission === 'public') return all(ok);
  if (actor.status === 401) return [401];
  const isLost = actor.where === undefined && (actor.header !== undefined || !isAnywhere);
  if (isLost) return [actor.status ?? 404];
  if (!actor.may.includes(permission)) return [403];
  return all(actor.where === 'elsewhere' ? foreign : ok);
}

/** Every route of every controller, as `GET /runs/:id`. */
function declaredRoutes(): { name: string; permission: unknown }[] {
  return api.app
    .get(DiscoveryService)
    .getControllers()
    .flatMap(({ metatype }) => {
      const base: unknown = metatype && Reflect.getMetadata(PATH_METADATA, metatype);
      const prototype: object = metatype?.prototype ?? {};
      return Object.getOwnPropertyNames(prototype).flatMap((key) => {
        const handler: unknown = Reflect.get(prototype, key);
        if (typeof handler !== 'function' || !Reflect.hasMetadata(METHOD_METADATA, handler)) return [];
        const path = `/${base}/${Reflect.getMetadata(PATH_METADATA, handler)}`
          .replace(/\/+/g, '/')
          .replace(/(.)\/$/, '$1');
        const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
        return [{ name: `${method} ${path}`, permission: accessRuleOf(handler).permission }];
      });
    });
}

test('every route declares the permission that the table says, and is in the table (access-table.ts)', () => {
  const declared = Object.fromEntries(declaredRoutes().map(({ name, permission }) => [name, permission]));
  expect(declared).toEqual(Object.fromEntries(Object.entries(ROUTES).map(([name, line]) => [name, line.permission])));
});

test('every route answers every role in its own, in another and in the shared workspace as the table says', async () => {
  const wrong: string[] = [];
  const pairs = Object.entries(ROUTES).flatMap(([name, line]) =>
    Object.entries(actors).map(([title, actor]) => ({ name, line, title, actor })),
  );
  const work = pairs.values();
  const tryAll = async () => {
    for (const { name, line, title, actor } of work) {
      const [method = '', route = ''] = name.split(' ');
      const { path = route } = line;
      const target = typeof path === 'string' ? path : await path(world);
      const status = await statusOf(method, target, line.body, actor);
      const wanted = expected(actor, line);
      if (!wanted.includes(status)) wrong.push(`${name} as ${title}: ${status} instead of ${wanted.join(' or ')}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, tryAll));
  expect(wrong).toEqual([]);
}, 60_000);

test('ci stops what it submitted itself, in scorecards and alone', async () => {
  const asCi = { authorization: `Bearer ${keyOf('ci', 'write')}` };
  const scorecard = { dataset: 'tasks', harness: 'echo', runtime: 'here' };
  const own = await api.send('POST', '/scorecards', scorecard, asCi);
  const run = await api.send(
    'POST',
    '/runs',
    { dataset: 'tasks', caseId: 'case-0', harness: 'echo', runtime: 'here' },
    asCi,
  );
  const replies = await Promise.all(
    [own.body.links.cancel, run.body.links.cancel].map((path) => api.send('POST', path, undefined, asCi)),
  );
  expect(replies.map(({ status }) => status)).toEqual([200, 200]);
  const foreign = await api.send('POST', `/scorecards/${world.scorecard}/cancel`, undefined, asCi);
  expect([foreign.status, foreign.body.detail]).toEqual([403, expect.stringMatching(/key:\w{12} submitted sc_/)]);
  const retried = await api.send('POST', `/scorecards/${world.scorecard}/retry`, undefined, asCi);
  expect([retried.status, retried.body.code]).toEqual([403, 'FORBIDDEN']);
});

test('a cursor of another workspace shows nothing of it', async () => {
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  const lists = ['/scorecards', '/runs', '/keys', '/ci-bindings'];
  for (const list of lists) {
    const first = await api.send('GET', `${list}?limit=1`, undefined, as(keyOf('admin', 'admin')));
    const next = await api.send('GET', `${list}?cursor=${first.body.next ?? ''}`, undefined, as(keyOf('admin', 'b')));
    const seen = JSON.stringify(next.body);
    for (const { id } of first.body.items) expect(seen).not.toContain(id);
    expect([list, first.body.items.length, next.status]).toEqual([list, 1, 200]);
  }
});
