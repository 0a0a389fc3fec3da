import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Context } from '../../../services/contracts/service.ts';
import { StaleRepositories } from '../../../services/git/repositories/stale-repositories.ts';
import { openPostgresDatabase } from '../../support/postgres.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

interface Change {
  readonly ref: string;
  readonly before: string;
  readonly after: string;
}

const waiting = { timeout: 40_000, interval: 100 };
/** Age of a push for which recovery no longer expects changes of its git process, ms. */
const givenUpMs = 11 * 60_000;
const files = new AsyncDisposableStack();
let folder: string;
let host: GitFixture;
let context: Context;
let client: pg.Client;

beforeAll(async () => {
  const { url } = files.use(await openPostgresDatabase());
  const root = mkdtempSync(join(tmpdir(), 'homeport-ended-hosts-'));
  files.defer(() => rmSync(root, { recursive: true, force: true }));
  folder = join(root, 'repositories');
  client = new pg.Client({ connectionString: url });
  await client.connect();
  files.defer(() => client.end());
  const environment = {
    HOMEPORT_DATABASE_URL: url,
    HOMEPORT_VAULT_KEY: randomBytes(32).toString('base64'),
    GIT_REPOSITORIES_FOLDER: folder,
  };
  host = files.use(await openGitFixture({ environment, onContext: (value) => (context = value) }));
  const lease = 'insert into host.leases (name, token, owner, expires_at) values ($1, 1, $2, $3)';
  await client.query(lease, ['hosts/running-host', 'another computer', Date.now() + 3_600_000]);
});
afterAll(() => files.disposeAsync());

/** Creates a repository and a working copy. */
async function prepare(name: string) {
  const { id } = await host.create(name);
  const cwd = await host.work(name);
  const push = async (...args: string[]): Promise<void> => {
    await host.git(['push', '-q', `${host.signedUrl}/ada/${name}.git`, ...args], { cwd });
  };
  const commit = async (message: string): Promise<string> => {
    await host.git(['commit', '-q', '--allow-empty', '-m', message], { cwd });
    return (await host.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
  };
  await push('main');
  return { id: id as number, cwd, push, commit };
}

/** Adds a push that an ended host did not record, and waits until another host has handled it. */
async function recoverPush(repository: number, change: Change): Promise<void> {
  await addPush('interrupted', repository, change);
  await waitForPushes([]);
}

const addPush = (id: string, repository: number, change: Change, hostId = 'no-such-host') =>
  client.query(
    'insert into git.pushes (id, repository_id, account, commands, begun_at, host_id) values ($1, $2, $3, $4, $5, $6)',
    [id, repository, 'ada', JSON.stringify([change]), Date.now() - givenUpMs, hostId],
  );

const waitForPushes = (ids: readonly string[]) =>
  vi.waitFor(async () => {
    const { rows } = await client.query('select id from git.pushes order by id');
    expect(rows.map(({ id }) => id)).toEqual(ids);
  }, waiting);

/** Returns the folder of a repository. */
async function getPath(id: number): Promise<string> {
  const name = (await client.query('select folder from git.repositories where id = $1', [id])).rows[0].folder as string;
  return join(folder, name.slice(0, 2), `${name}.git`);
}

/** Lists the changes of a reference in the history of a repository. */
async function listHistory(id: number, ref: string): Promise<readonly unknown[]> {
  const query = 'select before, after from git.push_history where repository_id = $1 and ref = $2 order by id';
  return (await client.query(query, [id, ref])).rows;
}

describe('a push of an ended host', () => {
  it('is not recorded if git never applied a forced push to an earlier commit', async () => {
    const { id, cwd, push, commit } = await prepare('forced');
    const after = (await host.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
    const before = await commit('second');
    await push('main');
    await client.query('delete from git.push_history where repository_id = $1', [id]);
    await recoverPush(id, { ref: 'refs/heads/main', before, after });
    expect(await listHistory(id, 'refs/heads/main')).toEqual([]);
  });

  it('is recorded although an earlier push set the same value', async () => {
    const { id, cwd, push, commit } = await prepare('back');
    const first = (await host.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
    const second = await commit('second');
    await push('main');
    await host.git(['update-ref', 'refs/heads/main', first], { cwd: await getPath(id) });
    await recoverPush(id, { ref: 'refs/heads/main', before: second, after: first });
    expect(await listHistory(id, 'refs/heads/main')).toEqual([
      { before: '0'.repeat(40), after: first },
      { before: first, after: second },
      { before: second, after: first },
    ]);
  });

  it('is recorded later while a client repeats it at another host', async () => {
    const { id, cwd } = await prepare('repeated');
    const after = (await host.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
    const path = await getPath(id);
    for (const name of ['repeated', 'other'])
      await host.git(['update-ref', `refs/heads/${name}`, after], { cwd: path });
    const change = { ref: 'refs/heads/repeated', before: '0'.repeat(40), after };
    await addPush('1-running', id, change, 'running-host');
    await addPush('2-interrupted', id, change);
    // Recorded in the same run, after the other one.
    await addPush('3-last', id, { ...change, ref: 'refs/heads/other' });
    await waitForPushes(['1-running', '2-interrupted']);
    expect(await listHistory(id, change.ref)).toEqual([]);
    // Git has rejected the repeated push, so it is not recorded.
    await client.query("delete from git.pushes where id = '1-running'");
    await waitForPushes([]);
    expect(await listHistory(id, change.ref)).toEqual([{ before: change.before, after }]);
  });

  it('does not move a pull request back if a later push was recorded before', async () => {
    const { id, cwd, push, commit } = await prepare('moving');
    await host.git(['checkout', '-q', '-b', 'topic'], { cwd });
    const before = await commit('first');
    await push('topic');
    const pull = { title: 'topic', head: 'topic', base: 'main' };
    expect((await host.api('POST', '/repos/ada/moving/pulls', pull)).status).toBe(201);
    const after = await commit('second');
    const latest = await commit('third');
    await push('topic');
    await recoverPush(id, { ref: 'refs/heads/topic', before, after });
    const { rows } = await client.query(
      'select head_commit from git.pulls join git.issues on id = issue_id where repository_id = $1',
      [id],
    );
    expect(rows).toEqual([{ head_commit: latest }]);
    const pulls = await host.git(['ls-remote', `${host.signedUrl}/ada/moving.git`, 'refs/pull/*/head']);
    expect(pulls.stdout).toContain(latest);
    // The older push is recorded in the history all the same.
    const history = await client.query('select 1 from git.push_history where after = $1', [after]);
    expect(history.rows).toHaveLength(1);
  });
});

describe('a deletion of a branch', () => {
  it('does not close its pull request if the branch was created again before it was recorded', async () => {
    const { id, cwd, push, commit } = await prepare('again');
    await host.git(['checkout', '-q', '-b', 'topic'], { cwd });
    await commit('first');
    await push('topic');
    const pull = { title: 'topic', head: 'topic', base: 'main' };
    expect((await host.api('POST', '/repos/ada/again/pulls', pull)).status).toBe(201);
    // Another host records a push for a long time.
    const name = `record/${String(id)}`;
    const lock = 'insert into git.repository_locks (name, host_id, token) values ($1, $2, $3)';
    await client.query(lock, [name, 'running-host', 'token']);
    const path = await getPath(id);
    const readBranch = async (): Promise<string> =>
      (await host.git(['for-each-ref', 'refs/heads/topic'], { cwd: path })).stdout;
    const deletion = push('--delete', 'topic');
    await vi.waitFor(async () => expect(await readBranch()).toBe(''), waiting);
    const creation = push('topic');
    await vi.waitFor(async () => expect(await readBranch()).not.toBe(''), waiting);
    await client.query('delete from git.repository_locks where name = $1', [name]);
    await Promise.all([deletion, creation]);
    const { rows } = await client.query('select closed from git.issues where repository_id = $1', [id]);
    expect(rows.map(({ closed }) => Number(closed))).toEqual([0]);
  });
});

describe('a lock of an ended host', () => {
  it.each(['maintenance', 'merge', 'record'])('is released if it is for the kind %s', async (kind) => {
    const { id } = await prepare(`locked-${kind}`);
    const lock = 'insert into git.repository_locks (name, host_id, token) values ($1, $2, $3)';
    await client.query(lock, [`${kind}/${String(id)}`, 'no-such-host', 'token']);
    await vi.waitFor(
      async () => expect((await client.query('select 1 from git.repository_locks')).rows).toEqual([]),
      waiting,
    );
  });
});

describe('a repository that a host is importing', () => {
  it('is removed only if its host is listed as ended in two runs', async () => {
    const { id } = await prepare('importing');
    const fill = "update git.repositories set filling = 1, filling_host = 'importing-host' where id = $1";
    const exists = async (): Promise<boolean> =>
      (await client.query('select 1 from git.repositories where id = $1', [id])).rows.length === 1;
    let ended: readonly string[] = ['importing-host'];
    const stale = new StaleRepositories({
      context: {
        ...context,
        log: context.log,
        leases: { hostId: 'this-host', hold: () => Promise.reject(new Error()), findEnded: async () => new Set(ended) },
      },
      mayBeMissing: false,
      root: folder,
    });
    await client.query(fill, [id]);
    await stale.remove(0);
    // The database did not respond, and the host renews its lease afterwards.
    ended = [];
    await stale.remove(0);
    ended = ['importing-host'];
    await stale.remove(0);
    expect(await exists()).toBe(true);
    await stale.remove(0);
    expect(await exists()).toBe(false);
    const unknown = join(folder, 'ab', `${'ab'.repeat(10)}.git`);
    mkdirSync(unknown, { recursive: true });
    await stale.remove(0);
    expect(existsSync(unknown)).toBe(true);
    await stale.remove(Number.POSITIVE_INFINITY);
    expect(existsSync(unknown)).toBe(false);
  });
});
