import * as m from '#messages/git-problems';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { HostList } from '../../../services/contracts/control/hosts.ts';
import { api } from '../../support/api.ts';
import { openPostgresDatabase } from '../../support/postgres.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { makeKey, scanHostKey } from './ssh-key.ts';

const waiting = { timeout: 20_000, interval: 50 };
const files = new AsyncDisposableStack();
let environment: Record<string, string>;
/** Folder with the repositories of both hosts. */
let folder: string;
let first: GitFixture;
let second: GitFixture;
let client: pg.Client;
let key: Awaited<ReturnType<typeof makeKey>>;
/** Events that webhooks received. */
const received: { readonly event: string; readonly body: { readonly ref?: string; readonly after?: string } }[] = [];
let hookUrl: string;

beforeAll(async () => {
  const { url } = files.use(await openPostgresDatabase());
  const root = mkdtempSync(join(tmpdir(), 'homeport-shared-'));
  files.defer(() => rmSync(root, { recursive: true, force: true }));
  folder = join(root, 'repositories');
  environment = {
    HOMEPORT_DATABASE_URL: url,
    HOMEPORT_VAULT_KEY: randomBytes(32).toString('base64'),
    GIT_REPOSITORIES_FOLDER: folder,
  };
  client = new pg.Client({ connectionString: url });
  await client.connect();
  files.defer(() => client.end());
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      received.push({ event: String(request.headers['x-gitea-event']), body: body as (typeof received)[0]['body'] });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  files.defer(() => void server.close());
  hookUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  first = files.use(await openGitFixture({ environment }));
  second = files.use(await openGitFixture({ environment }));
});
afterAll(() => files.disposeAsync());

const getAddress = (host: GitFixture, name: string): string => `${host.signedUrl}/ada/${name}.git`;

async function readJson<T>(host: GitFixture, path: string): Promise<T> {
  const reply = await host.api('GET', path);
  expect(reply.status).toBe(200);
  return (await reply.json()) as T;
}

/** Opens a pull request that adds a file. Returns its number. */
async function openPull(name: string, branch: string): Promise<number> {
  const content = Buffer.from(branch).toString('base64');
  const file = { content, new_branch: branch, message: `add ${branch}` };
  expect((await first.api('POST', `/repos/ada/${name}/contents/${branch}.txt`, file)).status).toBe(201);
  const reply = await second.api('POST', `/repos/ada/${name}/pulls`, { title: branch, head: branch, base: 'main' });
  expect(reply.status).toBe(201);
  return ((await reply.json()) as { number: number }).number;
}

const merge = async (host: GitFixture, name: string, number: number): Promise<number> =>
  (await host.api('POST', `/repos/ada/${name}/pulls/${String(number)}/merge`, { Do: 'merge' })).status;

async function countCommits(name: string): Promise<number> {
  const commits = await readJson<unknown[]>(second, `/repos/ada/${name}/commits?limit=50`);
  return commits.length;
}

describe('each of two hosts with one repositories folder', () => {
  it('serves what the other one stored immediately, over HTTP and SSH with the same host key', async () => {
    const { ssh_url: firstSsh } = await first.create('shared');
    const cwd = await second.work('shared');
    await second.git(['push', '-q', getAddress(second, 'shared'), 'main'], { cwd });
    await first.git(['clone', '-q', getAddress(first, 'shared'), 'shared-clone']);
    key = await makeKey(first, 'id_both');
    expect((await first.api('POST', '/user/keys', { title: 'k', key: key.text })).status).toBe(201);
    const { ssh_url: secondSsh } = await readJson<{ ssh_url: string }>(second, '/repos/ada/shared');
    expect(secondSsh).not.toBe(firstSsh);
    const hostKey = await scanHostKey(first, firstSsh);
    expect(hostKey).toMatch(/^ssh-ed25519 /);
    expect(await scanHostKey(second, secondSsh)).toBe(hostKey);
    await first.git(['clone', '-q', secondSsh, 'ssh-clone'], { environment: { GIT_SSH_COMMAND: key.command } });
  });

  it('records concurrent pushes to one branch and to several branches once', async () => {
    await first.create('busy');
    const hook = { type: 'gitea', config: { url: hookUrl, content_type: 'json' }, events: ['push'], active: true };
    expect((await first.api('POST', '/repos/ada/busy/hooks', hook)).status).toBe(201);
    const cwd = await first.work('busy');
    await first.git(['push', '-q', getAddress(first, 'busy'), 'main'], { cwd });
    const branches = Array.from({ length: 8 }, (_, index) => `b${String(index)}`);
    const hosts = [first, second] as const;
    await Promise.all(
      branches.map((branch, index) =>
        first.git(['push', '-q', getAddress(hosts[index % 2] ?? first, 'busy'), `main:${branch}`], { cwd }),
      ),
    );
    // Two different commits on the same branch: one push wins, and the other one is rejected.
    const commits = await Promise.all(
      ['one', 'two'].map(async (text) => {
        const args = ['commit-tree', '-p', 'main', '-m', text, 'main^{tree}'];
        return (await first.git(args, { cwd })).stdout.trim();
      }),
    );
    const results = await Promise.all(
      commits.map((commit, index) =>
        first.git(['push', '-q', getAddress(hosts[index] ?? first, 'busy'), `${commit}:refs/heads/main`], {
          cwd,
          mayFail: true,
        }),
      ),
    );
    expect(results.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(await readJson(second, '/repos/ada/busy')).toMatchObject({ branch_count: 9, default_branch: 'main' });
    await vi.waitFor(() => expect(received).toHaveLength(10), waiting);
    const { rows } = await client.query(
      'select ref from git.push_history where repository_id = (select max(id) from git.repositories)',
    );
    expect(rows).toHaveLength(10);
    expect(new Set(received.map(({ body }) => `${body.ref ?? ''} ${body.after ?? ''}`)).size).toBe(10);
    expect((await client.query('select 1 from git.pushes')).rows).toEqual([]);
    expect((await client.query('select 1 from git.repository_locks')).rows).toEqual([]);
  });

  it('merges a pull request once, and different ones into the same branch', async () => {
    await first.create('merges', { auto_init: true });
    const number = await openPull('merges', 'same');
    const statuses = await Promise.all([first, second].map((host) => merge(host, 'merges', number)));
    expect(statuses.toSorted()).toEqual([200, 405]);
    expect(await countCommits('merges')).toBe(3);
    const numbers = [await openPull('merges', 'left'), await openPull('merges', 'right')];
    const both = await Promise.all([first, second].map((host, index) => merge(host, 'merges', numbers[index] ?? 0)));
    expect(both).toEqual([200, 200]);
    expect(await countCommits('merges')).toBe(7);
    const merged = (await client.query('select 1 from git.pulls where merged_commit is not null')).rows;
    expect(merged).toHaveLength(3);
  });

  it('follows renames and deletions of the other host', async () => {
    await first.create('former', { auto_init: true });
    await first.git(['clone', '-q', getAddress(first, 'former'), 'former-clone']);
    expect((await readJson<unknown[]>(second, '/repos/ada/former/contents')).length).toBeGreaterThan(0);
    expect((await first.api('PATCH', '/repos/ada/former', { name: 'renamed' })).status).toBe(200);
    await second.git(['clone', '-q', getAddress(second, 'renamed'), 'renamed-clone']);
    await second.git(['ls-remote', getAddress(second, 'former')]);
    expect((await second.api('DELETE', '/repos/ada/renamed')).status).toBe(204);
    const gone = await first.git(['ls-remote', getAddress(first, 'renamed')], { mayFail: true });
    expect(gone.stderr).toContain('not found');
    expect((await first.api('GET', '/repos/ada/renamed')).status).toBe(404);
    // The name can be used again at the other host.
    await first.create('renamed', { auto_init: true });
    expect((await readJson<unknown[]>(second, '/repos/ada/renamed/contents')).length).toBeGreaterThan(0);
  });

  it('completes the work of an ended host, but not that of a running one', async () => {
    const { id } = await first.create('interrupted', { auto_init: true });
    const { rows } = await client.query('select folder from git.repositories where id = $1', [id]);
    const path = join(folder, rows[0].folder.slice(0, 2), `${rows[0].folder}.git`);
    const head = (await first.git(['rev-parse', 'main'], { cwd: path })).stdout.trim();
    for (const branch of ['ended', 'running'])
      await first.git(['update-ref', `refs/heads/${branch}`, head], { cwd: path });
    const insert = (name: string, host: string): Promise<unknown> => {
      const commands = [{ ref: `refs/heads/${name}`, before: '0'.repeat(40), after: head }];
      return client.query(
        'insert into git.pushes (id, repository_id, account, commands, begun_at, host_id) values ($1, $2, $3, $4, $5, $6)',
        [name, id, 'ada', JSON.stringify(commands), Date.now(), host],
      );
    };
    await insert('ended', 'no-such-host');
    await insert('running', 'running-host');
    await client.query(
      `insert into host.leases (name, token, owner, expires_at) values ('hosts/running-host', 1, 'another computer', $1)`,
      [Date.now() + 3_600_000],
    );
    // The host ended while git changed a reference.
    await insert('locked', 'no-such-host');
    const lock = join(path, 'refs', 'heads', 'locked.lock');
    writeFileSync(lock, '');
    const minutesAgo = new Date(Date.now() - 120_000);
    utimesSync(lock, minutesAgo, minutesAgo);
    // A folder whose row is not written yet.
    const newFolder = join(folder, 'zz', `${'z'.repeat(20)}.git`);
    mkdirSync(newFolder, { recursive: true });
    await using third = await openGitFixture({ environment });
    await vi.waitFor(
      async () =>
        expect((await client.query('select id from git.pushes order by id')).rows).toEqual([
          // Its git process may still be running.
          { id: 'locked' },
          { id: 'running' },
        ]),
      waiting,
    );
    expect(await readJson(third, '/repos/ada/interrupted')).toMatchObject({ branch_count: 3 });
    expect(existsSync(newFolder)).toBe(true);
    const branch = { new_branch_name: 'locked', old_branch_name: 'main' };
    expect((await second.api('POST', '/repos/ada/interrupted/branches', branch)).status).toBe(201);
    await client.query(`delete from git.pushes`);
    await client.query(`delete from host.leases where name = 'hosts/running-host'`);
  });

  it('leaves the maintenance of repositories to one of them', async () => {
    const { rows } = await client.query(
      `select owner from host.leases where name = 'git/maintenance' and owner is not null`,
    );
    expect(rows).toHaveLength(1);
  });
});

describe('a host whose repositories folder cannot be used', () => {
  it('refuses a folder that the other hosts do not use, names it in the list of hosts, and serves everything else', async () => {
    const other = mkdtempSync(join(tmpdir(), 'homeport-other-'));
    files.defer(() => rmSync(other, { recursive: true, force: true }));
    await using host = await openGitFixture({ environment: { ...environment, GIT_REPOSITORIES_FOLDER: other } });
    const reply = await host.api('GET', '/repos/ada/shared/branches');
    expect(reply.status).toBe(503);
    expect(await reply.json()).toMatchObject({ message: m.repositoriesNotShared(), url: expect.any(String) });
    expect((await host.api('POST', '/user/repos', { name: 'nowhere' })).status).toBe(503);
    const clone = await host.git(['clone', getAddress(host, 'shared'), 'x'], { mayFail: true });
    expect(clone.stderr).toContain('503');
    const { ssh_url } = await readJson<{ ssh_url: string }>(host, '/repos/ada/shared');
    const environmentOfKey = { GIT_SSH_COMMAND: key.command };
    const overSsh = await host.git(['clone', ssh_url, 'y'], { mayFail: true, environment: environmentOfKey });
    expect(overSsh.stderr).toContain(m.repositoriesNotShared());
    expect((await host.api('GET', '/repos/ada/shared/issues')).status).toBe(200);
    expect((await first.api('GET', '/repos/ada/nowhere')).status).toBe(404);
    expect(readdirSync(other)).toEqual([]);
    await vi.waitFor(async () => {
      const { hosts } = await api<HostList>(first.host.url('control'), '/api/hosts');
      expect(hosts.flatMap(({ problems }) => problems)).toEqual([
        { service: 'Code', reason: m.repositoriesNotShared() },
      ]);
    }, waiting);
  });

  it('refuses the folder of another installation', async () => {
    const { url } = files.use(await openPostgresDatabase());
    const foreign = {
      ...environment,
      HOMEPORT_DATABASE_URL: url,
      HOMEPORT_VAULT_KEY: randomBytes(32).toString('base64'),
    };
    await using host = await openGitFixture({ environment: foreign });
    const reply = await host.api('POST', '/user/repos', { name: 'foreign' });
    expect(reply.status).toBe(503);
    expect(await reply.json()).toMatchObject({ message: m.repositoriesForeign() });
  });

  it('responds with 503 while the file system is not mounted, and continues without a restart', async () => {
    const away = `${folder}.away`;
    for (const mountPoint of ['missing', 'empty']) {
      expect((await second.api('GET', '/repos/ada/shared/branches')).status).toBe(200);
      renameSync(folder, away);
      if (mountPoint === 'empty') mkdirSync(folder);
      try {
        await vi.waitFor(async () => {
          const reply = await second.api('GET', '/repos/ada/shared/branches');
          expect(reply.status).toBe(503);
          expect(await reply.json()).toMatchObject({ message: m.repositoriesUnavailable() });
        }, waiting);
        const clone = await first.git(['clone', getAddress(first, 'shared'), 'x'], { mayFail: true });
        expect(clone.stderr).toContain('503');
        expect((await second.api('GET', '/repos/search?q=shared')).status).toBe(200);
        expect((await fetch(`${second.host.url('control')}/health/ready`)).status).toBe(200);
      } finally {
        if (mountPoint === 'empty') rmSync(folder, { recursive: true });
        renameSync(away, folder);
      }
      await vi.waitFor(
        async () => expect((await second.api('GET', '/repos/ada/shared/branches')).status).toBe(200),
        waiting,
      );
      await vi.waitFor(() => first.git(['ls-remote', getAddress(first, 'shared')]), waiting);
    }
  });

  it('does not use an empty folder for existing repositories, unless an administrator marks it', async () => {
    const data = mkdtempSync(join(tmpdir(), 'homeport-single-'));
    files.defer(() => rmSync(data, { recursive: true, force: true }));
    const empty = join(data, 'empty');
    {
      await using host = await openGitFixture({ dataDir: data });
      await host.create('kept', { auto_init: true });
    }
    const single = { GIT_REPOSITORIES_FOLDER: empty };
    {
      await using host = await openGitFixture({ dataDir: data, environment: single });
      const reply = await host.api('GET', '/repos/ada/kept/branches');
      expect(reply.status).toBe(503);
      expect(await reply.json()).toMatchObject({ message: m.repositoriesMissing() });
      renameSync(join(data, 'git', 'repositories'), empty);
      await vi.waitFor(
        async () => expect((await host.api('GET', '/repos/ada/kept/branches')).status).toBe(200),
        waiting,
      );
    }
    const replacement = join(data, 'replacement');
    mkdirSync(replacement);
    writeFileSync(join(replacement, 'homeport-repositories.json'), '');
    await using host = await openGitFixture({ dataDir: data, environment: { GIT_REPOSITORIES_FOLDER: replacement } });
    await host.create('fresh', { auto_init: true });
    expect((await host.api('GET', '/repos/ada/fresh/branches')).status).toBe(200);
  });
});
