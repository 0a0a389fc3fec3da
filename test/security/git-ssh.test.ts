import { once } from 'node:events';
import ssh2, { type Client } from 'ssh2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grant } from '../../services/contracts/control/accounts.ts';
import { openGitRoom, type GitRoom } from '../services/git/room.ts';
import { adminAuthorization } from '../support/host.ts';
import { api } from '../support/api.ts';

/** Which repositories the holder of a key reads and writes over SSH. */
const repositories = ['acme/hidden', 'acme/open', 'other/hidden', 'other/open', 'solo/hidden'] as const;
type Repository = (typeof repositories)[number];
type Level = 'none' | 'read' | 'write';

/** The level of each key on each repository, in the order of {@link repositories}. */
const table: Readonly<Record<string, readonly [Level, Level, Level, Level, Level]>> = {
  stranger: ['none', 'read', 'none', 'read', 'none'],
  reader: ['read', 'read', 'none', 'read', 'none'],
  writer: ['write', 'write', 'none', 'read', 'none'],
  collaborator: ['write', 'read', 'none', 'read', 'none'],
  readingCollaborator: ['read', 'read', 'none', 'read', 'none'],
  member: ['write', 'write', 'none', 'read', 'none'],
  other: ['none', 'read', 'write', 'write', 'none'],
  solo: ['none', 'read', 'none', 'read', 'write'],
  ada: ['write', 'write', 'write', 'write', 'write'],
  'deploy key that reads': ['read', 'none', 'none', 'none', 'none'],
  'deploy key that writes': ['write', 'none', 'none', 'none', 'none'],
  'deploy key of two repositories': ['write', 'none', 'none', 'none', 'read'],
  'deploy key of another repository': ['none', 'none', 'write', 'none', 'none'],
};

let room: GitRoom;
let port: number;
const keys = new Map<string, { readonly private: string; readonly public: string }>();
const authorization = new Map<string, string>([['ada', adminAuthorization]]);

async function call(account: string, method: string, path: string, body?: unknown): Promise<void> {
  const reply = await room.api(method, path, body, authorization.get(account));
  expect([method, path, reply.ok, await reply.text()]).toEqual([method, path, true, expect.anything()]);
}

beforeAll(async () => {
  room = await openGitRoom();
  const grant = (permission: Grant['permission']): Grant => ({ service: 'git', resource: 'acme/*', permission });
  for (const name of Object.keys(table)) {
    const { private: secret, public: text } = ssh2.utils.generateKeyPairSync('ed25519');
    keys.set(name, { private: secret, public: text });
    if (name === 'ada' || name.includes(' ')) continue;
    const grants = { reader: [grant('read')], writer: [grant('write')] }[name] ?? [];
    authorization.set(name, await room.account(name, grants));
  }
  await call('member', 'POST', '/orgs', { username: 'acme' });
  for (const [account, path, name] of [
    ['member', '/orgs/acme/repos', 'hidden'],
    ['member', '/orgs/acme/repos', 'open'],
    ['other', '/user/repos', 'hidden'],
    ['other', '/user/repos', 'open'],
    ['solo', '/user/repos', 'hidden'],
  ] as const)
    await call(account, 'POST', path, { name, private: name === 'hidden', auto_init: true, default_branch: 'main' });
  const hidden = '/repos/acme/hidden';
  await call('member', 'PUT', `${hidden}/collaborators/collaborator`, { permission: 'write' });
  await call('member', 'PUT', `${hidden}/collaborators/readingCollaborator`, { permission: 'read' });
  for (const name of authorization.keys()) {
    await call(name, 'POST', '/user/keys', { title: name, key: keys.get(name)?.public });
  }
  for (const [account, path, name, read_only] of [
    ['member', hidden, 'deploy key that reads', true],
    ['member', hidden, 'deploy key that writes', false],
    ['member', hidden, 'deploy key of two repositories', false],
    ['solo', '/repos/solo/hidden', 'deploy key of two repositories', true],
    ['other', '/repos/other/hidden', 'deploy key of another repository', false],
  ] as const)
    await call(account, 'POST', `${path}/keys`, { title: name, key: keys.get(name)?.public, read_only });
  const reply = await room.api('GET', '/repos/acme/open');
  port = Number(new URL(((await reply.json()) as { readonly ssh_url: string }).ssh_url).port);
});
afterAll(() => room[Symbol.asyncDispose]());

/** Signs in with a key. Rejects when the key is refused. */
async function connect(key: string): Promise<Client & AsyncDisposable> {
  const client = new ssh2.Client();
  const ready = once(client, 'ready');
  client.connect({ host: '127.0.0.1', port, username: 'git', privateKey: keys.get(key)?.private ?? '' });
  await ready;
  return Object.assign(client, { [Symbol.asyncDispose]: async () => void client.end() });
}

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs a command of git that ends at once, since the client wants nothing. */
async function run(client: Client, command: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) return reject(error);
      let output = '';
      let code = -1;
      channel.on('exit', (exitCode: number) => (code = exitCode));
      channel.on('data', (text: Buffer) => (output += text.toString()));
      channel.on('close', () => resolve({ code, output }));
      channel.stderr.resume();
      channel.end('0000');
    });
  });
}

/** Asks for large files with what `git-lfs-authenticate` gave; returns the status. */
async function lfsStatus(ticket: string): Promise<number> {
  const { header, href } = JSON.parse(ticket) as { readonly header: Record<string, string>; readonly href: string };
  const type = 'application/vnd.git-lfs+json';
  const body = JSON.stringify({ operation: 'download', objects: [{ oid: '0'.repeat(64), size: 1 }] });
  const headers = { ...header, Accept: type, 'Content-Type': type };
  return (await fetch(`${href}/objects/batch`, { method: 'POST', headers, body })).status;
}

async function levelOf(client: Client, repository: Repository): Promise<Level> {
  const path = `'${repository}.git'`;
  const commands = [`git-upload-pack ${path}`, `git-receive-pack ${path}`];
  // Large files follow the same rule.
  commands.push(`git-lfs-authenticate ${path} download`, `git-lfs-authenticate ${path} upload`);
  const [reads, writes, downloads, uploads] = await Promise.all(
    commands.map(async (command) => (await run(client, command)).code === 0),
  );
  expect([repository, downloads, uploads]).toEqual([repository, reads, writes]);
  return writes ? 'write' : reads ? 'read' : 'none';
}

describe('access over SSH', () => {
  it.each(Object.entries(table))('is by repository for: %s', async (key, expected) => {
    await using client = await connect(key);
    const levels: Level[] = [];
    for (const repository of repositories) levels.push(await levelOf(client, repository));
    expect(levels).toEqual(expected);
  });

  it('ends with the collaboration, also for a connection that is open', async () => {
    await using client = await connect('collaborator');
    await call('member', 'DELETE', '/repos/acme/hidden/collaborators/collaborator');
    expect(await levelOf(client, 'acme/hidden')).toBe('none');
    await call('member', 'PUT', '/repos/acme/hidden/collaborators/collaborator', { permission: 'write' });
    expect(await levelOf(client, 'acme/hidden')).toBe('write');
  });

  it('ends when the account is disabled, also for a connection that is open', async () => {
    await using client = await connect('solo');
    const change = (enabled: boolean): Promise<unknown> =>
      api(room.host.url('control'), '/api/accounts/solo', { method: 'PATCH', body: JSON.stringify({ enabled }) });
    await change(false);
    expect(await levelOf(client, 'solo/hidden')).toBe('none');
    expect(await levelOf(client, 'acme/open')).toBe('none');
    await expect(connect('solo')).rejects.toThrow('authentication');
    await change(true);
    await using again = await connect('solo');
    expect(await levelOf(again, 'solo/hidden')).toBe('write');
  });

  it('ends when a key of an account is removed, also for a connection that is open', async () => {
    await using client = await connect('writer');
    const { output: ticket } = await run(client, `git-lfs-authenticate 'acme/hidden.git' download`);
    expect(await lfsStatus(ticket)).toBe(200);
    const listed = await room.api('GET', '/user/keys', undefined, authorization.get('writer'));
    const [key] = (await listed.json()) as readonly { readonly id: number }[];
    await call('writer', 'DELETE', `/user/keys/${String(key?.id)}`);
    expect(await levelOf(client, 'acme/hidden')).toBe('none');
    expect(await lfsStatus(ticket)).toBe(401);
  });

  it('ends when a deploy key is removed, also for a connection that is open', async () => {
    const name = 'deploy key of another repository';
    await using client = await connect(name);
    const { output: ticket } = await run(client, `git-lfs-authenticate 'other/hidden.git' download`);
    expect(await lfsStatus(ticket)).toBe(200);
    const listed = await room.api('GET', '/repos/other/hidden/keys', undefined, authorization.get('other'));
    const [key] = (await listed.json()) as readonly { readonly id: number }[];
    await call('other', 'DELETE', `/repos/other/hidden/keys/${String(key?.id)}`);
    await expect(connect(name)).rejects.toThrow('authentication');
    expect(await levelOf(client, 'other/hidden')).toBe('none');
    expect(await lfsStatus(ticket)).toBe(401);
  });
});
