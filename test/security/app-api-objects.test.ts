import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Grant } from '../../services/contracts/control/accounts.ts';
import { control } from '../../services/control/index.ts';
import { git } from '../../services/git/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { sync } from '../../services/sync/index.ts';
import { accessPassword, anonymous, openAccessHost, type AccessHost } from '../support/access.ts';
import { gitRepositoryPath, gitRows } from './git-app-api-rows.ts';
import { readDeclaredRoutes } from './declared-routes.ts';
import { hiddenTopic, marker, objectRows, type ObjectRow, type OwnedObjects } from './object-rows.ts';

/**
 * Tests access to the objects of another account through the app API. `rival` has the same grants as `owner`, `reader`
 * has read grants, and `nogrant` has none.
 */
const otherAccounts = ['nogrant', 'reader', 'rival'] as const;

let host: AccessHost;
let objects: OwnedObjects;
let limited: string;

beforeAll(async () => {
  const accounts = { owner: [], reader: [], rival: [] };
  host = await openAccessHost(accounts, { services: [control, git, inbox, push, sync] });
  const folder = join(host.rig.dataDir, marker);
  for (const name of ['in', 'out']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'in', 'a.txt'), marker);
  const grants = (permission: Grant['permission']): Grant[] => [
    { service: 'push', resource: hiddenTopic, permission },
    ...['in', 'in/*', 'out', 'out/*'].map((name) => ({ service: 'sync', resource: `${folder}/${name}`, permission })),
  ];
  for (const [name, permission] of [
    ['owner', 'read-write'],
    ['rival', 'read-write'],
    ['reader', 'read'],
  ] as const)
    await send('admin', 'PATCH', `/api/accounts/${name}`, { grants: grants(permission) });
  const token = { label: 'limited', scopes: grants('read-write') };
  limited = ((await send('owner', 'POST', '/api/account/tokens', token)) as { readonly text: string }).text;
  objects = await createObjects(folder);
});
afterAll(() => host[Symbol.asyncDispose]());

async function send(account: string, method: string, path: string, body?: unknown): Promise<any> {
  const reply = await host.call(account, 'control', method, path, body);
  const text = await reply.text();
  expect([method, path, reply.ok, text]).toEqual([method, path, true, text]);
  return JSON.parse(text);
}

async function createObjects(folder: string): Promise<OwnedObjects> {
  const as = (method: string, path: string, body?: unknown): Promise<any> => send('owner', method, path, body);
  await as('POST', '/api/push/messages', { topic: hiddenTopic, message: marker });
  for (const delay of ['2h', '3h'])
    await as('POST', '/api/push/messages', { topic: hiddenTopic, message: `${marker} later`, delay });
  await as('PUT', '/api/push/quiet', { rules: [{ topics: hiddenTopic, mode: 'silent' }] });
  const rule = { topic: hiddenTopic, message: marker, rule: '0 9 * * *', zone: 'UTC' };
  const { id: schedule } = await as('POST', '/api/push/schedules', rule);
  const { messages } = await as('GET', '/api/push/planned');
  const item = await vi.waitFor(async () => {
    const { items } = await as('GET', '/api/inbox');
    expect(items).toHaveLength(1);
    return items[0].id as number;
  });
  const { change } = await as('PATCH', '/api/inbox', { ids: [item], done: true, undoable: true });
  const { id: task } = await as('POST', '/api/sync/tasks', {
    ...{ name: marker, source: `${folder}/in`, destination: `${folder}/out` },
  });
  const job = await as('POST', `/api/sync/tasks/${String(task)}/preview`);
  const plan = await vi.waitFor(async () => {
    const view = await as('GET', `/api/sync/jobs/${String(job.id)}`);
    expect(view.job.planId).toEqual(expect.any(Number));
    return view.job.planId as number;
  });
  await as('POST', '/api/git/repositories', { name: marker, private: true });
  await as('POST', `/api/git/repositories/owner/${marker}/issues`, { title: marker });
  const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDnCsyGeNZzqQaeQro70kBf152qxy1Oq41OUqB74NYBl a@b';
  const { id: key } = await as('POST', '/api/git/keys', { title: marker, key: publicKey });
  const { token } = await as('POST', '/api/account/tokens', { label: marker });
  await fetch(`${host.rig.url('control')}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'User-Agent': marker },
    body: JSON.stringify({ name: 'owner', password: accessPassword }),
  });
  const endpoint = `https://fcm.googleapis.com/fcm/send/${marker}`;
  await as('PUT', '/api/push/browsers', { endpoint, auth: 'YXV0aA', p256dh: 'cDI1NmRo', topics: [hiddenTopic] });
  const { sessions } = await as('GET', '/api/account/sessions');
  const owned = { folder, schedule, item, change, task, plan, key, job: job.id };
  return { ...owned, planned: [messages[0].id, messages[1].id], token: token.id, session: sessions[0].id };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function call(account: string, row: ObjectRow): Promise<Answer> {
  const method = row.route.split(' ')[0] ?? '';
  const body = row.body?.(objects);
  const path = row.path(objects);
  if (account !== 'limited') {
    const reply = await host.call(account, 'control', method, path, body);
    return { status: reply.status, text: await reply.text() };
  }
  const reply = await fetch(host.rig.url('control') + path, {
    method,
    headers: { Authorization: `Bearer ${limited}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, text: await reply.text() };
}

/** Reads the objects of the owner as the owner. */
async function readState(): Promise<string> {
  const { item, task } = objects;
  const paths = ['/api/push/planned', '/api/push/schedules', `/api/inbox/${String(item)}`, '/api/push/quiet'];
  paths.push('/api/account', '/api/account/sessions', '/api/git/keys', `/api/sync/tasks/${String(task)}`);
  const volatile = new Set(['held', 'last', 'nextAt', 'lastUsedAt', 'lastUsedFrom', 'lastSeenAt']);
  const answers = [];
  for (const path of paths) answers.push(await (await host.call('owner', 'control', 'GET', path)).json());
  return JSON.stringify(answers, (key, value: unknown) => (volatile.has(key) ? undefined : value));
}

const isRefused = (status: number): boolean => [401, 403, 404].includes(status);
const isAllowed = (row: ObjectRow, account: string): boolean =>
  row.allowed?.some((entry) => entry === account) === true;

/** Describes the error in a response to another account; undefined for an expected response. */
function findFault(row: ObjectRow, { status, text }: Answer): string | undefined {
  if (status >= 500 || status === 401) return 'status';
  if (row.others === 'refused') return isRefused(status) ? undefined : 'not refused';
  if (row.others === 'unchanged') return undefined;
  return status === 200 && (row.shows ?? new RegExp(marker)).test(text) ? 'shows it' : undefined;
}

describe('the table of objects', () => {
  it('covers every route that decides by object', async () => {
    const covered = new Set([
      ...objectRows.map(({ route }) => route),
      ...gitRows.map(({ route }) => `${route.split(' ')[0] ?? ''} ${gitRepositoryPath}${route.split(' ')[1] ?? ''}`),
    ]);
    const routes = (await readDeclaredRoutes()).filter(
      ({ access, path }) => access === 'objects' || (access === 'user' && path.includes(':')),
    );
    expect(routes.filter(({ name }) => !covered.has(name)).map(({ name }) => name)).toEqual([]);
  });
});

describe('objects of another account', () => {
  it.each(objectRows.map((row) => [row.route, row] as const))(
    'refuses accounts without a right to the object: %s',
    async (_title, row) => {
      const before = await readState();
      expect([anonymous, (await call(anonymous, row)).status]).toEqual([anonymous, 401]);
      expect(['limited', (await call('limited', row)).status]).toEqual(['limited', 403]);
      for (const account of otherAccounts.filter((entry) => !isAllowed(row, entry))) {
        const response = await call(account, row);
        expect.soft([account, findFault(row, response), response]).toEqual([account, undefined, response]);
      }
      expect(await readState()).toBe(before);
      for (const account of ['owner', ...(row.allowed ?? [])]) {
        const { status, text } = await call(account, row);
        const refused = row.ownerRefused !== undefined;
        expect.soft([account, isRefused(status), status, text]).toEqual([account, refused, status, text]);
        if (row.others === 'empty')
          expect.soft([account, text]).toEqual([account, expect.stringMatching(row.shows ?? marker)]);
      }
    },
  );
});
