import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { admin, adminAuthorization } from '../support/host.ts';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';
import { inFreshFolder, percentile, residentMegabytes } from './measure.ts';
import type { BenchOptions } from './run.ts';

/** Measurements of Gitea 1.27.1 on two cores, as in the reference. */
const gitea = {
  pushMs: 400,
  clonesSeconds: 8.1,
  reposMs: 22,
  searchMs: 22,
  issuesMs: 77,
  commitsMs: 144,
  contentsMs: 9.8,
  rawMs: 15.7,
} as const;
const others = ['DOWNLOADS', 'NOTIFY', 'PUSH', 'MAIL', 'INBOX', 'UPTIME', 'SYNC', 'DATA', 'ADDONS'];
const disabledServices = Object.fromEntries(others.map((id) => [`HOMEPORT_ENABLED_${id}`, 'false']));
const commits = 1000;

/**
 * Measures git hosting, compared with plain `git upload-pack` and `git http-backend`. Measurements of Gitea are cited.
 */
export function benchGit({ quick, print }: BenchOptions): Promise<void> {
  const rounds = quick ? 5 : 15;
  return inFreshFolder(async (folder) => {
    const git = gitIn(folder);
    const bareFolder = join(folder, 'plain', 'demo.git');
    await git(['init', '-q', '--bare', '--initial-branch=main', bareFolder]);
    await git(['fast-import', '--quiet'], { cwd: bareFolder, input: history(commits) });
    await git(['config', 'http.receivepack', 'true'], { cwd: bareFolder });
    await git(['repack', '-adq'], { cwd: bareFolder });
    await using backend = await serveBackend(join(folder, 'plain'));
    await using host = await startHostProcess(join(folder, 'data'), { environment: disabledServices });
    await call(host, 'POST', '/user/repos', { name: 'demo' });
    const { sha1 } = (await call(host, 'POST', `/users/${admin.name}/tokens`, { name: 'bench', scopes: ['all'] })) as {
      sha1: string;
    };
    const ours = `${host.url('git').replace('://', `://${admin.name}:${sha1}@`)}/${admin.name}/demo.git`;
    await git(['push', '-q', ours, 'main'], { cwd: bareFolder });

    const clone = async (from: string, ...overrides: string[]): Promise<number> => {
      const to = join(folder, `clone-${randomBytes(6).toString('hex')}`);
      const took = await timed(() => git(['clone', '-q', '--bare', ...overrides, from, to]));
      rmSync(to, { recursive: true, force: true });
      return took;
    };
    const clones: { ours: number; pipe: number; http: number }[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const one = {
        pipe: await clone(bareFolder, '--no-local'),
        ours: await clone(ours),
        http: await clone(`${backend.url}/demo.git`),
      };
      if (round > 0) clones.push(one);
    }
    const p50 = (values: readonly number[]): number => percentile(values, 0.5);
    const [cloned, piped] = [p50(clones.map((each) => each.ours)), p50(clones.map(({ pipe }) => pipe))];
    print(
      {
        what: 'git: clone of 1,000 commits, beside upload-pack',
        measured: cloned,
        peer: piped,
        unit: 'ms',
        goal: { at: 'most', value: 1.1, of: 'ratio' },
      },
      { what: '… beside git http-backend', measured: cloned, peer: p50(clones.map(({ http }) => http)), unit: 'ms' },
    );

    const work = join(folder, 'work');
    await git(['clone', '-q', bareFolder, work]);
    const pushes: { ours: number; http: number }[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      await git(['commit', '-q', '--allow-empty', '-m', `round ${round}`], { cwd: work });
      const one = {
        ours: await timed(() => git(['push', '-q', ours, 'main'], { cwd: work })),
        http: await timed(() => git(['push', '-q', `${backend.url}/demo.git`, 'main'], { cwd: work })),
      };
      if (round > 0) pushes.push(one);
    }
    const pushed = p50(pushes.map((each) => each.ours));
    print(
      {
        what: 'git: push of one commit, beside git http-backend',
        measured: pushed,
        peer: p50(pushes.map(({ http }) => http)),
        unit: 'ms',
      },
      {
        what: '… as a part of what Gitea took',
        measured: pushed / gitea.pushMs,
        unit: 'times',
        goal: { at: 'most', value: 1 / 3 },
      },
    );

    const atOnce = (from: string, ...overrides: string[]) =>
      timed(() => Promise.all(Array.from({ length: 50 }, () => clone(from, ...overrides))));
    const concurrentClones: { ours: number; pipe: number }[] = [];
    for (let round = 0; round < (quick ? 3 : 5); round += 1) {
      concurrentClones.push({
        pipe: (await atOnce(bareFolder, '--no-local')) / 1000,
        ours: (await atOnce(ours)) / 1000,
      });
    }
    const medianOfConcurrent = p50(concurrentClones.map((each) => each.ours));
    print(
      {
        what: 'git: 50 simultaneous clones, compared with upload-pack',
        measured: medianOfConcurrent,
        peer: p50(concurrentClones.map(({ pipe }) => pipe)),
        unit: 's',
      },
      {
        what: '… beside what Gitea took',
        measured: medianOfConcurrent,
        unit: 's',
        goal: { at: 'most', value: gitea.clonesSeconds },
      },
    );

    for (let index = 0; index < 100; index += 1) await call(host, 'POST', '/user/repos', { name: `list-${index}` });
    for (let number = 0; number < 60; number += 1)
      await call(host, 'POST', `/repos/${admin.name}/demo/issues`, { title: `Issue ${number}`, body: 'It is so.' });
    const repo = `/repos/${admin.name}/demo`;
    for (const [what, path, theirs] of [
      ['user/repos, 30 of 100', '/user/repos?limit=30', gitea.reposMs],
      ['repos/search, 30', '/repos/search?limit=30', gitea.searchMs],
      ['issues, 30', `${repo}/issues?limit=30`, gitea.issuesMs],
      ['commits, 30', `${repo}/commits?limit=30&stat=false&files=false&verification=false`, gitea.commitsMs],
      ['contents of a folder', `${repo}/contents/`, gitea.contentsMs],
      ['a raw file', `${repo}/raw/file-1.txt`, gitea.rawMs],
    ] as const) {
      const times: number[] = [];
      for (let round = 0; round < rounds * 10; round += 1) {
        const took = await timed(() => call(host, 'GET', path, undefined, `token ${sha1}`));
        if (round >= 20) times.push(took);
      }
      const isList = what !== 'contents of a folder' && what !== 'a raw file';
      print({
        what: `git: GET ${what} (p50)`,
        measured: p50(times),
        unit: 'ms',
        ...(isList ? { goal: { at: 'most' as const, value: theirs / 5 } } : {}),
      });
    }
    await host.stop();
    const memoryReadings: { with: number; without: number }[] = [];
    for (let round = 0; round < (quick ? 3 : 6); round += 1)
      memoryReadings.push(...(await idle(join(folder, `idle-${round}`), round % 2 === 0)));
    const added = memoryReadings.map((each) => each.with - each.without);
    print(
      {
        what: 'git: resident memory of an idle host, beside one without',
        measured: p50(memoryReadings.map((each) => each.with)),
        peer: p50(memoryReadings.map(({ without }) => without)),
        unit: 'MB',
      },
      {
        what: `… added, the median of ${added.length} readings`,
        measured: p50(added),
        unit: 'MB',
        goal: { at: 'most', value: 30 },
      },
      { what: '… the least and the most of them', measured: Math.min(...added), peer: Math.max(...added), unit: 'MB' },
    );
  });
}

/** Reads the memory of two idle hosts five times. */
async function idle(folder: string, withIsFirst: boolean): Promise<readonly { with: number; without: number }[]> {
  const open = (name: string, enabled: boolean) =>
    startHostProcess(join(folder, name), {
      environment: { ...disabledServices, HOMEPORT_ENABLED_GIT: String(enabled) },
    });
  await using first = await open('first', withIsFirst);
  await using second = await open('second', !withIsFirst);
  const [hosting, other] = withIsFirst ? [first, second] : [second, first];
  await sleep(8000);
  const memoryReadings: { with: number; without: number }[] = [];
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await sleep(1000);
    memoryReadings.push({
      with: residentMegabytes(hosting.child.pid ?? 0),
      without: residentMegabytes(other.child.pid ?? 0),
    });
  }
  return memoryReadings;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function call(
  host: HostProcess,
  method: string,
  path: string,
  body?: unknown,
  authorization = adminAuthorization,
): Promise<unknown> {
  const init = { method, headers: { authorization }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const reply = await fetch(`${host.url('git')}/api/v1${path}`, init);
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
  return path.includes('/raw/') ? text : JSON.parse(text);
}

/** Builds about 5 MB of commits that each change one of forty files, for `git fast-import`. */
function history(length: number): string {
  const parts: string[] = [];
  for (let number = 1; number <= length; number += 1) {
    const data = randomBytes(2500).toString('base64');
    const author = `Ann <ann@example.org> ${1_700_000_000 + number} +0000`;
    parts.push(
      `commit refs/heads/main\ncommitter ${author}\ndata 9\ncommit ${String(number % 10)}\nM 100644 ` +
        `inline file-${number % 40}.txt\ndata ${data.length}\n${data}\n`,
    );
  }
  return parts.join('');
}

function gitIn(folder: string) {
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Ann',
    GIT_AUTHOR_EMAIL: 'ann@example.org',
    GIT_COMMITTER_NAME: 'Ann',
    GIT_COMMITTER_EMAIL: 'ann@example.org',
  };
  return async (args: readonly string[], { cwd = folder, input = '' } = {}): Promise<void> => {
    const child = spawn('git', args, { cwd, env: environment, stdio: ['pipe', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    // Most requests read nothing from the process.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${String(code)}: ${errors}`);
  };
}

/** Serves `git http-backend` with a minimal HTTP server. */
async function serveBackend(root: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const child = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method ?? 'GET',
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
        ...(request.headers['git-protocol'] === undefined
          ? {}
          : { GIT_PROTOCOL: String(request.headers['git-protocol']) }),
        REMOTE_USER: 'ann',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    request.pipe(child.stdin);
    child.stdin.on('error', () => undefined);
    let head = Buffer.alloc(0);
    const begin = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      child.stdout.off('data', begin);
      for (const line of head.subarray(0, end).toString().split('\r\n')) {
        const [name = '', value = ''] = line.split(': ', 2);
        if (name === 'Status') response.statusCode = Number(value.slice(0, 3));
        else response.setHeader(name, value);
      }
      response.write(head.subarray(end + 4));
      child.stdout.pipe(response);
    };
    child.stdout.on('data', begin);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
