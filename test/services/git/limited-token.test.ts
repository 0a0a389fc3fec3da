import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Grant } from '../../../services/contracts/control/accounts.ts';
import { compileGlob } from '../../../services/git/domain/glob.ts';
import { api } from '../../support/api.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let limited: string;
beforeAll(async () => {
  fixture = await openGitFixture();
  await fixture.account('bob');
  const scopes: readonly Grant[] = [{ service: 'git', resource: 'ada/*', permission: 'read' }];
  const response = await api<{ readonly text: string }>(fixture.host.url('control'), '/api/accounts/ada/tokens', {
    method: 'POST',
    body: JSON.stringify({ label: 'limited', scopes }),
  });
  limited = response.text;
});
afterAll(() => fixture[Symbol.asyncDispose]());

const ask = (method: string, path: string, body?: object): Promise<Response> =>
  fetch(`${fixture.url}/api/v1${path}`, {
    method,
    headers: { Authorization: `token ${limited}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test('rejects actions in the name of the account for a limited token, also of an administrator', async () => {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDnCsyGeNZzqQaeQro70kBf152qxy1Oq41OUqB74NYBl a@b';
  const refused = [
    await ask('POST', '/user/keys', { title: 'x', key }),
    await ask('GET', '/user/keys'),
    await ask('GET', '/user'),
    await ask('POST', '/user/repos', { name: 'mine' }),
    await ask('POST', '/orgs', { username: 'ours' }),
    await ask('GET', '/notifications'),
    await ask('POST', '/repos/migrate', { clone_addr: 'https://git.example/a.git', repo_name: 'a' }),
  ];
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
  expect((await ask('GET', '/version')).status).toBe(200);
});

test('shows only public data to a public-only token', async () => {
  await fixture.create('hidden', { private: true });
  await fixture.create('shown');
  const response = await fixture.api('POST', '/users/ada/tokens', {
    name: 'public',
    scopes: ['public-only', 'read:repository', 'read:issue'],
  });
  const { sha1 } = (await response.json()) as { readonly sha1: string };
  const status = async (path: string): Promise<number> =>
    (await fixture.api('GET', path, undefined, `token ${sha1}`)).status;
  expect(await status('/repos/ada/shown')).toBe(200);
  expect(await status('/repos/ada/hidden')).toBe(404);
  expect(await status('/repos/ada/shown/issues')).toBe(200);
  expect(await status('/repos/ada/hidden/issues')).toBe(404);
  const list = await fixture.api('GET', '/repos/search', undefined, `token ${sha1}`);
  const { data } = (await list.json()) as { readonly data: readonly { readonly name: string }[] };
  expect(data.map(({ name }) => name)).toEqual(['shown']);
});

test('lists no private repositories of its organizations for a public-only token', async () => {
  const { id } = (await (await fixture.api('POST', '/orgs', { username: 'house' })).json()) as { readonly id: number };
  for (const body of [{ name: 'open' }, { name: 'closed', private: true }])
    await fixture.api('POST', '/orgs/house/repos', body);
  const response = await fixture.api('POST', '/users/ada/tokens', {
    name: 'teams',
    scopes: ['public-only', 'read:organization'],
  });
  const { sha1 } = (await response.json()) as { readonly sha1: string };
  const list = async (authorization?: string) => {
    const reply = await fixture.api('GET', `/teams/${id}/repos`, undefined, authorization);
    const names = ((await reply.json()) as readonly { readonly name: string }[]).map(({ name }) => name);
    return [names, reply.headers.get('x-total-count')];
  };
  expect(await list()).toEqual([['open', 'closed'], '2']);
  expect(await list(`token ${sha1}`)).toEqual([['open'], '1']);
});

test.each([
  ['release/*', 'release/1', true],
  ['release/*', 'release/1/2', false],
  ['release/**', 'release/1/2', true],
  ['{main,release/*}', 'release/2', true],
  ['{main,release/*}', 'dev', false],
  ['v[0-9]?', 'v1a', true],
  ['v[!0-9]', 'v1', false],
  ['*-{a,{b,c}x}', 'main-cx', true],
  ['a.b', 'axb', false],
  ['a.(b)$|+^', 'a.(b)$|+^', true],
  ['{a,b}'.repeat(8), 'abababab', true],
  ['a,b}', 'a,b}', true],
  ['[]^!]', '^', true],
  ['[^a]', '^', true],
  ['[^a]', 'b', false],
  [String.raw`[\d]`, '5', false],
  ['🚀?', '🚀🚀', true],
])('matches the pattern %s with the branch %s: %s', (pattern, name, expected) => {
  expect(compileGlob(pattern, { bySegment: true })?.test(name)).toBe(expected);
});

test.each(['{a', 'a[', '[z-a]', '{a,{b}', '[]'])('rejects the pattern %s', (pattern) => {
  expect(compileGlob(pattern, { bySegment: true })).toBeUndefined();
});

test('matches a pattern of many wildcards quickly for any name', () => {
  expect(compileGlob(`${'**a'.repeat(100)}b`, { bySegment: true })?.test('a'.repeat(5000))).toBe(false);
});
