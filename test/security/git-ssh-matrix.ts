import { once } from 'node:events';
import ssh2, { type Client } from 'ssh2';
import { expect } from 'vitest';
import type { Grant } from '../../services/contracts/control/accounts.ts';
import { openGitFixture, type GitFixture } from '../services/git/git-fixture.ts';
import { adminAuthorization } from '../support/host.ts';

/** Repositories of {@link keyLevels}. */
export const repositories = ['acme/hidden', 'acme/open', 'other/hidden', 'other/open', 'solo/hidden'] as const;
type Repository = (typeof repositories)[number];
type Level = 'none' | 'read' | 'write';

/** Access of each key to each repository over SSH, in the order of {@link repositories}. */
export const keyLevels: Readonly<Record<string, readonly [Level, Level, Level, Level, Level]>> = {
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

export interface SshFixture extends AsyncDisposable {
  readonly fixture: GitFixture;
  getAuthorization(account: string): string;
  /** Sends a request of the Gitea API that must succeed. */
  call(account: string, method: string, path: string, body?: unknown): Promise<void>;
  /** Signs in with a key. Rejects when the key is refused. */
  connect(key: string): Promise<Client & AsyncDisposable>;
}

interface KeyPair {
  readonly private: string;
  readonly public: string;
}

/** Generates a key. The library omits a leading zero of one key in 256, which no program can read. */
function generateKeyPair(): KeyPair {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519');
    const isReadable = [pair.public, pair.private].every((text) => !(ssh2.utils.parseKey(text) instanceof Error));
    if (isReadable) return pair;
  }
}

/** Opens git hosting with the repositories and keys of {@link keyLevels}. */
export async function openSshFixture(): Promise<SshFixture> {
  const fixture = await openGitFixture();
  const authorization = new Map<string, string>([['ada', adminAuthorization]]);
  const keys = new Map<string, KeyPair>();
  const grant = (permission: Grant['permission']): Grant => ({ service: 'git', resource: 'acme/*', permission });
  for (const name of Object.keys(keyLevels)) {
    keys.set(name, generateKeyPair());
    if (name === 'ada' || name.includes(' ')) continue;
    const grants = { reader: [grant('read')], writer: [grant('write')] }[name] ?? [];
    authorization.set(name, await fixture.account(name, grants));
  }
  const call: SshFixture['call'] = async (account, method, path, body) => {
    const reply = await fixture.api(method, path, body, authorization.get(account));
    expect([method, path, reply.ok, await reply.text()]).toEqual([method, path, true, expect.anything()]);
  };
  await createRepositories(call);
  for (const name of authorization.keys()) {
    await call(name, 'POST', '/user/keys', { title: name, key: keys.get(name)?.public });
  }
  await addDeployKeys(call, keys);
  const reply = await fixture.api('GET', '/repos/acme/open');
  const port = Number(new URL(((await reply.json()) as { readonly ssh_url: string }).ssh_url).port);
  return {
    fixture,
    call,
    getAuthorization: (account) => authorization.get(account) ?? '',
    async connect(key) {
      const client = new ssh2.Client();
      const ready = once(client, 'ready');
      client.connect({ host: '127.0.0.1', port, username: 'git', privateKey: keys.get(key)?.private ?? '' });
      await ready;
      return Object.assign(client, { [Symbol.asyncDispose]: async () => void client.end() });
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

async function createRepositories(call: SshFixture['call']): Promise<void> {
  await call('member', 'POST', '/orgs', { username: 'acme' });
  for (const [account, path, name] of [
    ['member', '/orgs/acme/repos', 'hidden'],
    ['member', '/orgs/acme/repos', 'open'],
    ['other', '/user/repos', 'hidden'],
    ['other', '/user/repos', 'open'],
    ['solo', '/user/repos', 'hidden'],
  ] as const)
    await call(account, 'POST', path, { name, private: name === 'hidden', auto_init: true, default_branch: 'main' });
  const collaborators = '/repos/acme/hidden/collaborators';
  await call('member', 'PUT', `${collaborators}/collaborator`, { permission: 'write' });
  await call('member', 'PUT', `${collaborators}/readingCollaborator`, { permission: 'read' });
}

async function addDeployKeys(call: SshFixture['call'], keys: ReadonlyMap<string, KeyPair>): Promise<void> {
  for (const [account, repository, name, read_only] of [
    ['member', 'acme/hidden', 'deploy key that reads', true],
    ['member', 'acme/hidden', 'deploy key that writes', false],
    ['member', 'acme/hidden', 'deploy key of two repositories', false],
    ['solo', 'solo/hidden', 'deploy key of two repositories', true],
    ['other', 'other/hidden', 'deploy key of another repository', false],
  ] as const)
    await call(account, 'POST', `/repos/${repository}/keys`, { title: name, key: keys.get(name)?.public, read_only });
}

interface CommandResult {
  readonly code: number;
  readonly output: string;
}

/** Runs a git command that ends immediately, since the client requests no objects. */
export async function run(client: Client, command: string): Promise<CommandResult> {
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

/** Determines the access level of a key on a repository. */
export async function readLevel(client: Client, repository: Repository): Promise<Level> {
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
