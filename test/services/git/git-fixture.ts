import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giteaApi } from 'gitea-js';
import { git } from '../../../services/git/index.ts';
import { control } from '../../../services/control/index.ts';
import type { Grant } from '../../../services/contracts/control/accounts.ts';
import type { Clock, Context, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { admin, adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { needs } from '../../support/requirements.ts';

needs('POSIX shell');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Host with the git service, and a folder in which real clients run. */
export interface GitFixture extends AsyncDisposable {
  readonly host: TestHost;
  readonly url: string;
  /** URL that contains the administrator's name and password. */
  readonly signedUrl: string;
  readonly folder: string;
  /** Runs git in a folder below the fixture's folder. It must succeed unless `mayFail` is set. */
  git(args: readonly string[], options?: RunOptions): Promise<Ran>;
  run(program: string, args: readonly string[], options?: RunOptions): Promise<Ran>;
  api(method: string, path: string, body?: unknown, authorization?: string): Promise<Response>;
  /** Creates a repository of the administrator. */
  create(name: string, overrides?: Record<string, unknown>): Promise<any>;
  /** Creates an account without further permissions and returns its Authorization header. */
  account(name: string, grants?: readonly Grant[]): Promise<string>;
  /** Creates a working copy with one commit on `main`. */
  work(name: string, files?: Record<string, string>): Promise<string>;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly mayFail?: boolean;
  readonly environment?: Record<string, string>;
  readonly input?: string;
}

export async function openGitFixture(
  options: {
    readonly environment?: Record<string, string>;
    readonly services?: readonly ServiceDescriptor<any, any>[];
    readonly dataDir?: string;
    readonly clock?: Clock;
    /** Receives the context of the service. */
    readonly onContext?: (context: Context) => void;
  } = {},
): Promise<GitFixture> {
  const host = await openTestHost({
    services: [observed(options.onContext), control, ...(options.services ?? [])],
    ...(options.environment === undefined ? {} : { environment: options.environment }),
    ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  const folder = mkdtempSync(join(tmpdir(), 'homeport-git-'));
  const url = host.url('git');
  const signedUrl = url.replace('://', `://${admin.name}:${encodeURIComponent(admin.password)}@`);
  const clean = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Ann',
    GIT_AUTHOR_EMAIL: 'ann@example.org',
    GIT_COMMITTER_NAME: 'Ann',
    GIT_COMMITTER_EMAIL: 'ann@example.org',
  };
  const run: GitFixture['run'] = async (program, args, { cwd = folder, mayFail = false, environment, input } = {}) => {
    const child = spawn(program, args, { cwd, env: { ...clean, ...environment }, stdio: 'pipe' });
    child.stdin.end(input);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code !== 0 && !mayFail) {
      throw new Error(
        `${program} ${args.join(' ')} ended with ${code}: ${stderr}${stdout}\n${host.log.slice(-20).join('\n')}`,
      );
    }
    return { code, stdout, stderr };
  };
  const api: GitFixture['api'] = (method, path, body, authorization = adminAuthorization) =>
    fetch(`${url}/api/v1${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(authorization === '' ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    host,
    url,
    signedUrl,
    folder,
    run,
    api,
    git: (args, overrides) => run('git', ['-c', 'init.defaultBranch=main', ...args], overrides),
    async create(name, overrides = {}) {
      const reply = await api('POST', '/user/repos', { name, ...overrides });
      if (reply.status !== 201) throw new Error(`${reply.status} ${await reply.text()}`);
      return reply.json();
    },
    async account(name, grants = []) {
      const password = `a long password of ${name}`;
      const reply = await fetch(`${host.url('control')}/api/accounts`, {
        method: 'POST',
        headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
        body: JSON.stringify({ name, password, grants }),
      });
      if (!reply.ok) throw new Error(await reply.text());
      return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
    },
    async work(name, files = { 'README.md': '# demo\n' }) {
      const cwd = join(folder, name);
      await run('git', ['-c', 'init.defaultBranch=main', 'init', '-q', cwd]);
      for (const [path, text] of Object.entries(files)) writeFileSync(join(cwd, path), text);
      await run('git', ['add', '.'], { cwd });
      await run('git', ['commit', '-qm', 'first commit\n\nbody'], { cwd });
      return cwd;
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function observed(onContext: ((context: Context) => void) | undefined): ServiceDescriptor<any, any> {
  if (onContext === undefined) return git;
  return {
    ...git,
    create(context, settings) {
      onContext(context);
      return git.create(context, settings);
    },
  };
}

export type Gitea = ReturnType<typeof giteaApi<unknown>>;

/** Creates a gitea-js client of the administrator with a token for all scopes. */
export async function giteaClient(fixture: GitFixture): Promise<Gitea> {
  const response = await fixture.api('POST', '/users/ada/tokens', { name: 'all', scopes: ['all'] });
  return giteaApi(fixture.url, { token: ((await response.json()) as { sha1: string }).sha1 });
}
