import { once } from 'node:events';
import { createServer } from 'node:http';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { startHostProcess, type HostProcess } from '../../support/host-process.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { makeKey } from './ssh-key.ts';

let fixture: GitFixture;
let bob = '';
let cwd = '';
beforeAll(async () => {
  fixture = await openGitFixture();
  bob = await fixture.account('bob');
  await fixture.create('secret', { private: true });
  await fixture.create('open');
  cwd = await fixture.work('open');
  for (const name of ['open', 'secret'])
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/${name}.git`, 'main'], { cwd });
});
afterAll(() => fixture[Symbol.asyncDispose]());

it('shows accounts and their keys only to accounts', async () => {
  for (const path of [
    '/repos/ada/open/assignees',
    '/repos/ada/open/reviewers',
    '/users/ada/starred',
    '/users/ada/subscriptions',
    '/users/ada/keys',
  ]) {
    expect([path, (await fixture.api('GET', path, undefined, '')).status]).toEqual([path, 401]);
    expect([path, (await fixture.api('GET', path, undefined, bob)).status]).toEqual([path, 200]);
  }
  const { id } = (await (await fixture.api('GET', '/repos/ada/open', undefined, '')).json()) as { id: number };
  expect((await fixture.api('GET', `/repositories/${id}`, undefined, '')).status).toBe(200);
});

describe('a private repository', () => {
  const median = (values: readonly number[]): number =>
    values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

  it('is indistinguishable from a missing one by status, message and time', async () => {
    const paths = [
      '',
      '/branches',
      '/contents',
      '/issues',
      '/pulls',
      '/releases',
      '/languages',
      '/commits/main/status',
      '/subscribers',
      '/assignees',
      '/topics',
      '/raw/README.md',
      '/archive/main.zip',
      '/backup',
      '/hooks',
      '/keys',
      '/forks',
      '/stargazers',
      '/git/refs',
      '/compare/main...main',
    ];
    for (const account of [bob, '']) {
      for (const path of paths) {
        const [there, none] = await Promise.all(
          ['secret', 'nothing'].map(async (name) => {
            const reply = await fixture.api('GET', `/repos/ada/${name}${path}`, undefined, account);
            return [reply.status, (await reply.text()).replaceAll(name, 'NAME')];
          }),
        );
        expect([path, there]).toEqual([path, none]);
      }
    }
    for (const path of ['info/refs?service=git-upload-pack', 'info/refs?service=git-receive-pack']) {
      for (const headers of [{}, { authorization: bob }] as Record<string, string>[]) {
        const [there, none] = await Promise.all(
          ['secret', 'nothing'].map(async (name) => {
            const reply = await fetch(`${fixture.url}/ada/${name}.git/${path}`, { headers });
            return [reply.status, reply.headers.get('www-authenticate'), await reply.text()];
          }),
        );
        expect(there).toEqual(none);
      }
    }
    const times: Record<string, number[]> = { secret: [], nothing: [] };
    for (let round = 0; round < 120; round += 1) {
      for (const name of ['secret', 'nothing']) {
        const startedAt = performance.now();
        await (await fixture.api('GET', `/repos/ada/${name}/branches`, undefined, bob)).text();
        times[name]?.push(performance.now() - startedAt);
      }
    }
    // Git does not run either: a read of the repository would take several times as long.
    const [there, none] = [median(times['secret'] ?? []), median(times['nothing'] ?? [])];
    expect(there).toBeLessThan(none * 2 + 2);
  });
});

describe('a private repository at other addresses', () => {
  const both = ['secret', 'nothing'] as const;

  it('is indistinguishable from a missing one at addresses of files, large files and texts', async () => {
    const tries: readonly (readonly [string, RequestInit?])[] = [
      ...[
        'raw/branch/main/README.md',
        'raw/commit/main/README.md',
        'archive/main.zip',
        'pulls/1.diff',
        'pulls/1.patch',
        'HEAD',
        'releases/download/v1/a.txt',
        'attachments/00000000-0000-0000-0000-000000000000',
        '?go-get=1',
      ].map((path) => [path] as const),
      [
        'git-upload-pack',
        { method: 'POST', body: '0000', headers: { 'content-type': 'application/x-git-upload-pack-request' } },
      ],
      [
        'git-receive-pack',
        { method: 'POST', body: '0000', headers: { 'content-type': 'application/x-git-receive-pack-request' } },
      ],
      [
        'info/lfs/objects/batch',
        {
          method: 'POST',
          body: JSON.stringify({ operation: 'download', objects: [{ oid: 'a'.repeat(64), size: 1 }] }),
        },
      ],
      ['info/lfs/objects/batch', { method: 'POST', body: JSON.stringify({ operation: 'upload', objects: [] }) }],
      ['info/lfs/locks'],
      [`info/lfs/objects/${'a'.repeat(64)}`],
      [`info/lfs/objects/${'a'.repeat(64)}/1`, { method: 'PUT', body: 'x' }],
      ['info/lfs/verify', { method: 'POST', body: JSON.stringify({ oid: 'a'.repeat(64), size: 1 }) }],
    ];
    for (const [path, init] of tries) {
      for (const account of ['', bob]) {
        const [there, none] = await Promise.all(
          both.map(async (name) => {
            const headers = { ...init?.headers, ...(account === '' ? {} : { authorization: account }) };
            const reply = await fetch(`${fixture.url}/ada/${name}${path.startsWith('?') ? '' : '/'}${path}`, {
              ...init,
              headers,
              redirect: 'manual',
            });
            const message = (await reply.text()).replaceAll(name, 'NAME');
            return [
              reply.status,
              reply.headers.get('www-authenticate'),
              reply.headers.get('location')?.replace(name, 'NAME'),
              message,
            ];
          }),
        );
        expect([path, account === '', there]).toEqual([path, account === '', none]);
      }
    }
    const text = await (await fetch(`${fixture.url}/swagger.v1.json`)).text();
    expect(text).not.toContain('secret"');
  });

  it('is indistinguishable from a missing one by message and time over SSH', async () => {
    const key = await makeKey(fixture, 'id_bob');
    expect((await fixture.api('POST', '/user/keys', { title: 'k', key: key.text }, bob)).status).toBe(201);
    const { ssh_url } = (await (await fixture.api('GET', '/repos/ada/open')).json()) as { ssh_url: string };
    const { hostname, port } = new URL(ssh_url);
    const [program = '', ...args] = key.command.split(' ');
    const exec = async (command: string) => {
      const startedAt = performance.now();
      const { code, stderr, stdout } = await fixture.run(program, [...args, '-p', port, `git@${hostname}`, command], {
        mayFail: true,
      });
      return { said: [code, stderr, stdout], took: performance.now() - startedAt };
    };
    const times: Record<string, number[]> = { secret: [], nothing: [] };
    for (const command of [
      "git-upload-pack 'ada/NAME.git'",
      "git-receive-pack 'ada/NAME.git'",
      "git-upload-archive 'ada/NAME.git'",
      'git-lfs-authenticate ada/NAME.git download',
      'git-lfs-authenticate ada/NAME.git upload',
    ]) {
      const [there, none] = [
        await exec(command.replace('NAME', 'secret')),
        await exec(command.replace('NAME', 'nothing')),
      ];
      for (const [name, { took }] of [
        ['secret', there],
        ['nothing', none],
      ] as const)
        times[name]?.push(took);
      expect([command, there.said.map((message) => String(message).replaceAll('secret', 'NAME'))]).toEqual([
        command,
        none.said.map((message) => String(message).replaceAll('nothing', 'NAME')),
      ]);
      expect(there.said[0]).toBe(1);
    }
    const [there, none] = [Math.min(...(times['secret'] ?? [])), Math.min(...(times['nothing'] ?? []))];
    // Git does not start in either case.
    expect(there).toBeLessThan(none * 2 + 50);
  });
});

describe('malicious names', () => {
  it('are never interpreted as options, commands or paths', async () => {
    const trap = join(fixture.folder, 'trapped');
    const maliciousNames = [
      '--upload-pack=touch${IFS}' + trap,
      '-x',
      '--exec=x',
      '$(touch x)',
      '`id`',
      '../../etc',
      '.../..',
      'a;b',
      "a'b",
      'refs/heads/main:x',
    ];
    for (const name of maliciousNames) {
      const encoded = encodeURIComponent(name);
      const statuses = await Promise.all([
        fixture.api('POST', '/repos/ada/open/branches', { new_branch_name: name, old_ref_name: name }),
        fixture.api('POST', '/repos/ada/open/tags', { tag_name: name, target: name }),
        fixture.api('GET', `/repos/ada/open/commits?sha=${encoded}&path=${encoded}`),
        fixture.api('GET', `/repos/ada/open/contents/${encoded}?ref=${encoded}`),
        fixture.api('GET', `/repos/ada/open/git/commits/${encoded}`),
        fixture.api('GET', `/repos/ada/open/git/trees/${encoded}`),
        fixture.api('GET', `/repos/ada/open/compare/${encoded}...${encoded}`),
        fixture.api('GET', `/repos/ada/open/archive/${encoded}.zip`),
        fixture.api('GET', `/repos/ada/open/commits/${encoded}/status`),
        ...(/^-|\.\./.test(name) ? [fixture.api('PATCH', '/repos/ada/open/branches/main', { name })] : []),
        fixture.api('POST', '/repos/ada/open/pulls', { title: 'x', head: name, base: name }),
        fixture.api('POST', '/repos/migrate', { clone_addr: name, repo_name: 'taken' }),
      ]).then((all) => all.map(({ status }) => status));
      expect([name, statuses.filter((status) => status < 400 || status >= 500)]).toEqual([name, []]);
    }
    expect(existsSync(trap)).toBe(false);
    const { stdout } = await fixture.git(['ls-remote', `${fixture.signedUrl}/ada/open.git`]);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split('\t')[1]),
    ).toEqual(['HEAD', 'refs/heads/main']);
  });

  it('keeps branches apart whose names differ only in case', async () => {
    await fixture.create('cases');
    const remote = `${fixture.signedUrl}/ada/cases.git`;
    await fixture.git(['checkout', '-q', '-b', 'Feature'], { cwd });
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'upper'], { cwd });
    await fixture.git(['push', '-q', remote, 'main', 'main:feature', 'Feature:Feature'], { cwd });
    const names = async () =>
      (
        (await (await fixture.api('GET', '/repos/ada/cases/branches')).json()) as {
          name: string;
          commit: { id: string };
        }[]
      ).map(({ name, commit }) => [name, commit.id]);
    const all = await names();
    expect(all.map(([name]) => name)).toEqual(['Feature', 'feature', 'main']);
    expect(new Set(all.map(([, id]) => id)).size).toBe(2);
    expect((await fixture.api('DELETE', '/repos/ada/cases/branches/feature')).status).toBe(204);
    expect((await names()).map(([name]) => name)).toEqual(['Feature', 'main']);
    await fixture.git(['checkout', '-q', 'main'], { cwd });
  });
});

describe('a compressed body', () => {
  it('is not read into memory: a request of compressed zeros is rejected and the host continues', async () => {
    const before = process.memoryUsage().rss;
    const compressedBody = gzipSync(Buffer.alloc(256 * 1024 * 1024));
    const send = async (path: string) => {
      const reply = await fetch(`${fixture.url}/ada/open.git/${path}`, {
        method: 'POST',
        headers: {
          authorization: adminAuthorization,
          'content-encoding': 'gzip',
          'content-type': `application/x-${path}-request`,
        },
        body: compressedBody,
      }).catch(() => undefined);
      return reply?.status ?? 400;
    };
    for (const path of ['git-receive-pack', 'git-upload-pack'])
      expect((await send(path)) === 200 ? 'read' : 'refused').toMatch(/read|refused/);
    expect((await fixture.api('GET', '/repos/ada/open')).status).toBe(200);
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
  });
});

describe('a migration during which the host is killed', () => {
  it('leaves nothing behind and frees its name', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-git-data-'));
    // Answers without ever ending the response.
    const requested = Promise.withResolvers<void>();
    const origin = createServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/x-git-upload-pack-advertisement' });
      response.write('001e# service=git-upload-pack\n0000');
      requested.resolve();
    });
    origin.listen(0, '127.0.0.1');
    await once(origin, 'listening');
    const address = `http://127.0.0.1:${(origin.address() as AddressInfo).port}/x.git`;
    const environment = Object.fromEntries(
      ['DOWNLOADS', 'NOTIFY', 'PUSH', 'MAIL', 'INBOX'].map((id) => [`HOMEPORT_ENABLED_${id}`, 'false']),
    );
    let host: HostProcess | undefined;
    const api = (method: string, path: string, body?: unknown) =>
      fetch(`${host?.url('git') ?? ''}/api/v1${path}`, {
        method,
        headers: { authorization: adminAuthorization },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    try {
      host = await startHostProcess(dataDir, { environment });
      const migrating = api('POST', '/repos/migrate', { clone_addr: address, repo_name: 'copy' }).then(
        ({ status }) => status,
        () => 0,
      );
      await requested.promise;
      // The repository is hidden in the meantime.
      expect((await api('GET', '/repos/ada/copy')).status).toBe(404);
      await host.kill();
      expect(await migrating).toBe(0);
      host = await startHostProcess(dataDir, { environment });
      expect((await api('GET', '/repos/ada/copy')).status).toBe(404);
      const root = join(dataDir, 'git', 'repositories');
      expect(readdirSync(root).flatMap((part) => readdirSync(join(root, part)))).toEqual([]);
      expect((await api('POST', '/user/repos', { name: 'copy' })).status).toBe(201);
    } finally {
      await host?.stop();
      origin.closeAllConnections();
      origin.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
