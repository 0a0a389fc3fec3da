import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { admin, adminAuthorization } from '../support/host.ts';
import type { HostProcess } from '../support/host-process.ts';
import { call, openCluster, type Cluster } from './cluster-fixture.ts';

const waiting = { timeout: 60_000, interval: 100 };
const files = new AsyncDisposableStack();
let root: string;
let repositories: string;
let cluster: Cluster;
let client: pg.Client;
let hosts: AsyncDisposableStack;

/** Host whose git commands can be held before they start. */
interface HeldHost {
  readonly host: HostProcess;
  /** Holds the commands that contain a text. `reached` resolves when git would run one. */
  readonly hold: (command: string) => { readonly reached: () => Promise<unknown>; readonly release: () => void };
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'cluster-git-'));
  files.defer(() => rmSync(root, { recursive: true, force: true }));
  repositories = join(root, 'repositories');
  cluster = files.use(await openCluster({ GIT_REPOSITORIES_FOLDER: repositories }));
  client = new pg.Client({ connectionString: cluster.environment['HOMEPORT_DATABASE_URL'] });
  await client.connect();
  files.defer(() => client.end());
});
beforeEach(() => {
  hosts = new AsyncDisposableStack();
});
afterEach(() => hosts.disposeAsync());
afterAll(() => files.disposeAsync());

/** Runs git as a client. */
async function git(cwd: string, args: readonly string[], mayFail = false): Promise<string> {
  const identity = { GIT_AUTHOR_NAME: 'Ann', GIT_AUTHOR_EMAIL: 'ann@example.org' };
  const environment = {
    ...{ PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0', ...identity },
    ...{ GIT_COMMITTER_NAME: 'Ann', GIT_COMMITTER_EMAIL: 'ann@example.org' },
  };
  const child = spawn('git', ['-c', 'init.defaultBranch=main', ...args], { cwd, env: environment });
  const [output, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  if (code !== 0 && !mayFail) throw new Error(`git ${args.join(' ')}: ${errors}`);
  return output.trim();
}

/** Starts a host that runs git through a script. */
async function startHeld(): Promise<HeldHost> {
  const folder = mkdtempSync(join(root, 'programs-'));
  const path = (name: string): string => join(folder, name);
  const script = `#!/bin/sh
while [ -e "${path('hold')}" ]; do
  case "$*" in *"$(cat "${path('hold')}")"*) touch "${path('held')}"; sleep 0.05 ;; *) break ;; esac
done
[ -e "${path('end')}" ] && exit 1
PATH='${process.env['PATH'] ?? ''}' exec git "$@"
`;
  writeFileSync(path('git'), script, { mode: 0o755 });
  hosts.defer(() => {
    writeFileSync(path('end'), '');
    rmSync(path('hold'), { force: true });
  });
  const environment = { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  const host = hosts.use(await cluster.start({ environment }));
  return {
    host,
    hold(command) {
      writeFileSync(path('hold'), command);
      return {
        reached: () => vi.waitUntil(() => existsSync(path('held')), waiting),
        release: () => rmSync(path('hold'), { force: true }),
      };
    },
  };
}

const apiUrl = (host: HostProcess, path: string): string => `${host.url('git')}/api/v1${path}`;

function getRemote(host: HostProcess, name: string): string {
  return `${host.url('git').replace('://', `://${admin.name}:${encodeURIComponent(admin.password)}@`)}/ada/${name}.git`;
}

/** Creates a repository with one commit, and returns its id and a clone. */
async function createRepository(
  host: HostProcess,
  name: string,
): Promise<{ readonly id: number; readonly cwd: string }> {
  const { id } = await call<{ id: number }>(apiUrl(host, '/user/repos'), 'POST', { name, auto_init: true });
  const cwd = join(root, `clone-${name}`);
  await git(root, ['clone', '-q', getRemote(host, name), cwd]);
  return { id, cwd };
}

async function getFolder(id: number): Promise<string> {
  const { rows } = await client.query<{ folder: string }>('select folder from git.repositories where id = $1', [id]);
  const folder = rows[0]?.folder ?? '';
  return join(repositories, folder.slice(0, 2), `${folder}.git`);
}

async function commit(cwd: string, name: string): Promise<string> {
  writeFileSync(join(cwd, name), name);
  await git(cwd, ['add', '.']);
  await git(cwd, ['commit', '-qm', name]);
  return git(cwd, ['rev-parse', 'HEAD']);
}

async function readHistory(id: number): Promise<readonly string[]> {
  const { rows } = await client.query<{ after: string }>(
    'select after from git.push_history where repository_id = $1 order by id',
    [id],
  );
  return rows.map(({ after }) => after);
}

const listPushes = async (id: number): Promise<readonly unknown[]> =>
  (await client.query('select id from git.pushes where repository_id = $1', [id])).rows;

const countObjects = (folder: string): Promise<string> => git(folder, ['count-objects', '-v']);

describe('git on several hosts with one repositories folder', () => {
  it('records a push once whose host was killed before git changed the branch', async () => {
    const { host: first, hold } = await startHeld();
    const second = hosts.use(await cluster.start());
    const { id, cwd } = await createRepository(second, 'killed');
    const head = await commit(cwd, 'one');
    const held = hold('receive-pack --stateless-rpc .');
    const push = git(cwd, ['push', '-q', getRemote(first, 'killed'), 'main'], true);
    await held.reached();
    await vi.waitUntil(async () => (await listPushes(id)).length > 0, waiting);
    await first.kill();
    await push;
    // The git process outlives its host.
    held.release();
    await vi.waitFor(() => git(cwd, ['push', '-q', getRemote(second, 'killed'), 'main']), waiting);
    await vi.waitUntil(async () => (await listPushes(id)).length === 0, waiting);
    const history = await readHistory(id);
    expect(history.filter((commitId) => commitId === head)).toHaveLength(1);
    await git(await getFolder(id), ['fsck', '--strict']);
  }, 120_000);

  it('loses and repeats no acknowledged push while a host is killed', async () => {
    const first = hosts.use(await cluster.start());
    const second = hosts.use(await cluster.start());
    const { id, cwd } = await createRepository(second, 'load');
    const acknowledged: string[] = [];
    let isFirstRunning = true;
    const pushBranch = async (branch: string): Promise<void> => {
      for (let n = 0; n < 8; n += 1) {
        const args = ['commit-tree', '-m', `${branch} ${String(n)}`, '-p', n === 0 ? 'main' : branch, 'main^{tree}'];
        const commitId = await git(cwd, args);
        await git(cwd, ['update-ref', `refs/heads/${branch}`, commitId]);
        // A client repeats an interrupted push at another host.
        await vi.waitFor(() => {
          const host = isFirstRunning && n % 2 === 0 ? first : second;
          return git(cwd, ['push', '-q', getRemote(host, 'load'), branch]);
        }, waiting);
        acknowledged.push(commitId);
      }
    };
    const pushes = Promise.all(['a', 'b', 'c'].map(pushBranch));
    await vi.waitUntil(() => acknowledged.length >= 6, waiting);
    await first.kill();
    isFirstRunning = false;
    await pushes;
    await vi.waitFor(async () => {
      const history = await readHistory(id);
      for (const commitId of acknowledged) expect(history.filter((each) => each === commitId)).toHaveLength(1);
    }, waiting);
    const folder = await getFolder(id);
    for (const branch of ['a', 'b', 'c'])
      expect(await git(folder, ['rev-parse', branch])).toBe(await git(cwd, ['rev-parse', branch]));
    await git(folder, ['fsck', '--strict']);
  }, 120_000);

  it('merges a pull request once whose merge another host began before it hung', async () => {
    const { host: first, hold } = await startHeld();
    const second = hosts.use(await cluster.start());
    const { id, cwd } = await createRepository(second, 'hung');
    await git(cwd, ['checkout', '-qb', 'topic']);
    await commit(cwd, 'topic');
    await git(cwd, ['push', '-q', getRemote(second, 'hung'), 'topic']);
    const pull = { title: 'topic', head: 'topic', base: 'main' };
    const { number } = await call<{ number: number }>(apiUrl(second, '/repos/ada/hung/pulls'), 'POST', pull);
    const merge = async (host: HostProcess): Promise<number> => {
      const url = apiUrl(host, `/repos/ada/hung/pulls/${String(number)}/merge`);
      const headers = { authorization: adminAuthorization, 'content-type': 'application/json' };
      return (await fetch(url, { method: 'POST', headers, body: '{"Do":"merge"}' })).status;
    };
    const held = hold('update-ref --stdin');
    const interrupted = merge(first);
    await held.reached();
    first.child.kill('SIGSTOP');
    try {
      expect(await merge(second)).toBe(200);
    } finally {
      held.release();
      first.child.kill('SIGCONT');
    }
    expect(await interrupted).toBe(409);
    const merges = await git(await getFolder(id), ['rev-list', '--merges', 'main']);
    expect(merges.split('\n')).toHaveLength(1);
    expect((await readHistory(id)).filter((commitId) => commitId === merges)).toHaveLength(1);
    await vi.waitUntil(async () => (await listPushes(id)).length === 0, waiting);
  }, 120_000);

  it('continues the maintenance of a host that was killed, and removes the locks of git', async () => {
    const { host: first, hold } = await startHeld();
    const second = hosts.use(await cluster.start());
    const { id, cwd } = await createRepository(second, 'packs');
    const held = hold('repack --geometric');
    for (let n = 0; n < 3; n += 1) {
      for (let file = 0; file < 80; file += 1)
        writeFileSync(join(cwd, `f${String(file)}`), `${String(n)} ${String(file)}`);
      await commit(cwd, `round ${String(n)}`);
      await git(cwd, ['push', '-q', getRemote(second, 'packs'), 'main']);
    }
    await git(cwd, ['push', '-q', getRemote(second, 'packs'), 'main:obsolete']);
    const folder = await getFolder(id);
    await held.reached();
    const lock = join(folder, 'packed-refs.lock');
    writeFileSync(lock, '');
    // Instead of a wait of a minute, after which no process can be using it.
    const minutesAgo = new Date(Date.now() - 120_000);
    utimesSync(lock, minutesAgo, minutesAgo);
    await first.kill();
    await vi.waitUntil(() => !existsSync(lock), waiting);
    await git(cwd, ['push', '-q', getRemote(second, 'packs'), ':obsolete']);
    await vi.waitFor(async () => expect(await countObjects(folder)).toMatch(/^count: 0$/m), waiting);
    await git(folder, ['fsck', '--strict']);
    await git(root, ['clone', '-q', getRemote(second, 'packs'), 'packs-after']);
  }, 180_000);
});
