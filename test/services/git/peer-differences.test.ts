import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { api } from '../../support/api.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { needs } from '../../support/requirements.ts';

needs('git-lfs');

let fixture: GitFixture;
beforeAll(async () => {
  fixture = await openGitFixture();
  await fixture.create('demo');
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe('a migration', () => {
  const migrate = async (overrides: Record<string, unknown>): Promise<number> =>
    (
      await fixture.api('POST', '/repos/migrate', {
        clone_addr: 'https://git.invalid/a.git',
        repo_name: 'copy',
        ...overrides,
      })
    ).status;

  it('rejects a mirror', async () => {
    expect(await migrate({ mirror: true })).toBe(403);
  });

  it.each(['issues', 'labels', 'milestones', 'pull_requests', 'releases', 'wiki', 'lfs'])(
    'rejects %s of another forge, which it cannot migrate',
    async (part) => {
      for (const service of ['gitea', 'github', 'gitlab']) expect(await migrate({ service, [part]: true })).toBe(422);
    },
  );

  it('rejects Git LFS and wiki of a git repository, and ignores parts that it cannot have', async () => {
    expect(await migrate({ lfs: true })).toBe(422);
    expect(await migrate({ wiki: true })).toBe(422);
    const reply = await fixture.api('POST', '/repos/migrate', {
      clone_addr: `${fixture.signedUrl}/ada/demo.git`,
      repo_name: 'plain',
      issues: true,
      service: 'git',
    });
    expect(reply.status).toBe(201);
  });
});

describe('an email address of an account', () => {
  it('is stored, shown, used in commits and links commits to the account', async () => {
    const body = { username: 'bob', password: 'a long password of bob', email: 'bob@example.com' };
    const created = await fixture.api('POST', '/admin/users', body);
    expect([created.status, await created.json()]).toEqual([
      201,
      expect.objectContaining({ email: 'bob@example.com' }),
    ]);
    const changed = await fixture.api('PATCH', '/admin/users/bob', { email: 'Bob@example.org' });
    expect(await changed.json()).toMatchObject({ email: 'Bob@example.org' });
    const bob = `Basic ${Buffer.from('bob:a long password of bob').toString('base64')}`;
    expect(await (await fixture.api('GET', '/user/emails', undefined, bob)).json()).toMatchObject([
      { email: 'Bob@example.org' },
    ]);
    await fixture.api('POST', '/user/repos', { name: 'mine', auto_init: true, default_branch: 'main' }, bob);
    const commits = await (await fixture.api('GET', '/repos/bob/mine/commits')).json();
    expect(commits).toMatchObject([{ commit: { author: { email: 'Bob@example.org' } }, author: { login: 'bob' } }]);
    const cwd = await fixture.work('bobs');
    const author = ['-c', 'user.name=Bob', '-c', 'user.email=bob@EXAMPLE.org'];
    const environment = { GIT_AUTHOR_EMAIL: 'bob@EXAMPLE.org', GIT_COMMITTER_EMAIL: 'other@example.org' };
    await fixture.git([...author, 'commit', '-q', '--allow-empty', '-m', 'two'], { cwd, environment });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main'], { cwd });
    const [newest] = (await (await fixture.api('GET', '/repos/ada/demo/commits')).json()) as readonly Record<
      string,
      unknown
    >[];
    expect(newest).toMatchObject({ author: { login: 'bob' }, committer: null });
  });

  it('rejects an invalid address', async () => {
    expect((await fixture.api('PATCH', '/admin/users/bob', { email: 'no address' })).status).toBe(422);
  });
});

describe('a submodule', () => {
  it('is shown with the address from .gitmodules', async () => {
    await fixture.create('modules');
    const text =
      '[submodule "one"]\n\tpath = lib/one\n\turl = https://example.org/one.git\n[submodule "two"]\n\tpath = two\n\turl = ../demo.git\n';
    const cwd = await fixture.work('modules', { '.gitmodules': text });
    const id = (await fixture.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
    for (const path of ['lib/one', 'two'])
      await fixture.git(['update-index', '--add', '--cacheinfo', `160000,${id},${path}`], { cwd });
    await fixture.git(['commit', '-qm', 'modules'], { cwd });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/modules.git`, 'main'], { cwd });
    const get = async (path: string): Promise<unknown> =>
      (await fixture.api('GET', `/repos/ada/modules/contents/${path}`)).json();
    expect(await get('lib/one')).toMatchObject({ type: 'submodule', submodule_git_url: 'https://example.org/one.git' });
    expect(await get('two')).toMatchObject({ type: 'submodule', submodule_git_url: `${fixture.url}/ada/demo.git` });
    expect(await get('lib')).toMatchObject([{ submodule_git_url: 'https://example.org/one.git' }]);
    expect(await get('.gitmodules')).toMatchObject({ submodule_git_url: null });
  });
});

describe('a file on the pages', () => {
  const content = (path: string): Promise<Record<string, unknown>> =>
    api(
      fixture.host.url('control'),
      `/api/git/repositories/ada/files/content?path=${encodeURIComponent(path)}&ref=main`,
    );

  beforeAll(async () => {
    await fixture.create('files');
    const cwd = await fixture.work('files');
    const files: Record<string, Uint8Array> = {
      'cp1252.txt': Buffer.from('gr\u00fc\u00dfe', 'latin1'),
      'utf16.txt': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('grüße €', 'utf16le')]),
      'utf16be.txt': Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from('grüße €', 'utf16le').swap16()]),
      'plain16.txt': Buffer.from('a longer plain text', 'utf16le'),
      'utf8.txt': Buffer.from('grüße €'),
      'binary.bin': Buffer.from([1, 0, 2, 0, 0, 3, 255, 254]),
    };
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(cwd, name), bytes);
    await fixture.git(['lfs', 'install', '--local'], { cwd });
    await fixture.git(['lfs', 'track', '*.psd', '*.png'], { cwd });
    writeFileSync(join(cwd, 'big.psd'), Buffer.alloc(300_000, Buffer.from([1, 0, 2, 0, 0, 3, 255, 254])));
    await fixture.git(['add', '.'], { cwd });
    await fixture.git(['commit', '-qm', 'files'], { cwd });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/files.git`, 'main'], { cwd });
  });

  it.each([
    ['cp1252.txt', 'grüße', false],
    ['utf16.txt', 'grüße €', false],
    ['utf16be.txt', 'grüße €', false],
    ['plain16.txt', 'a longer plain text', false],
    ['utf8.txt', 'grüße €', true],
    ['binary.bin', null, false],
  ])('is decoded for display: %s', async (path, text, editable) => {
    expect(await content(path)).toMatchObject({ text, editable, lfs: false });
  });

  it('shows the content of a Git LFS object instead of its pointer', async () => {
    expect(await content('big.psd')).toMatchObject({ text: null, editable: false, lfs: true, size: 300_000 });
    const authorization = `Basic ${Buffer.from(`ada:${decodeURIComponent(new URL(fixture.signedUrl).password)}`).toString('base64')}`;
    const reply = await fetch(
      `${fixture.host.url('control')}/api/git/repositories/ada/files/file?path=big.psd&ref=main`,
      {
        headers: { authorization },
      },
    );
    expect((await reply.arrayBuffer()).byteLength).toBe(300_000);
    for (const path of ['/ada/files/media/branch/main/big.psd', '/api/v1/repos/ada/files/media/main/big.psd']) {
      expect((await (await fetch(fixture.url + path)).arrayBuffer()).byteLength).toBe(300_000);
    }
    expect(await (await fetch(`${fixture.url}/ada/files/src/branch/main/big.psd`)).text()).toContain(
      'media/branch/main/big.psd',
    );
  });
});

describe('a webhook', () => {
  const received: { readonly method: string; readonly url: string; readonly body: Record<string, unknown> }[] = [];
  const receiver = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
      received.push({ method: request.method ?? '', url: request.url ?? '', body });
      response.end();
    });
  });
  let target = '';
  beforeAll(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    target = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    receiver.close();
    receiver.closeAllConnections();
  });
  const create = (type: string, overrides: Record<string, string> = {}): Promise<Response> =>
    fixture.api('POST', '/repos/ada/demo/hooks', {
      type,
      active: true,
      events: ['push'],
      config: { url: `http://${target}/${type}`, content_type: 'json', ...overrides },
    });

  it('stores its address sealed and shows it without the password', async () => {
    const url = `http://user:pass-in-address@${target}/path-in-address`;
    const created = await fixture.api('POST', '/repos/ada/demo/hooks', {
      type: 'gitea',
      config: { url, content_type: 'json' },
    });
    const hook = (await created.json()) as { readonly id: number; readonly config: { readonly url: string } };
    expect(hook.config.url).toBe(`http://user:***@${target}/path-in-address`);
    const file = new Database(join(fixture.host.dataDir, 'git', 'db.sqlite'), { readonly: true });
    const stored = JSON.stringify(file.prepare('select * from webhooks').all());
    file.close();
    expect(stored).not.toMatch(/pass-in-address|path-in-address/);
    // Clients may send the masked address back.
    const path = `/repos/ada/demo/hooks/${hook.id}`;
    expect((await fixture.api('PATCH', path, { active: true, config: { url: hook.config.url } })).status).toBe(200);
    await fixture.api('POST', `${path}/tests`);
    await vi.waitFor(() => expect(received.map((entry) => entry.url)).toContain('/path-in-address'), {
      timeout: 20_000,
    });
    expect((await fixture.api('DELETE', path)).status).toBe(204);
  });

  it('sends messages in the formats of chat services', async () => {
    expect((await create('slack')).status).toBe(422);
    for (const type of ['slack', 'discord', 'msteams', 'telegram', 'matrix']) {
      expect((await create(type, type === 'slack' ? { channel: '#code', username: 'Bot' } : {})).status).toBe(201);
    }
    expect((await create('dingtalk')).status).toBe(422);
    received.length = 0;
    const cwd = await fixture.work('chat', { 'chat.txt': 'x' });
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'mend <b> & more'], { cwd });
    await fixture.git(['push', '-q', '--force', `${fixture.signedUrl}/ada/demo.git`, 'main:chat'], { cwd });
    await vi.waitFor(() => expect(received.length).toBe(5), { timeout: 20_000 });
    const of = (type: string) => received.find(({ url }) => url.startsWith(`/${type}`));
    expect(of('slack')?.body).toMatchObject({
      channel: '#code',
      username: 'Bot',
      text: expect.stringContaining('[ada/demo:chat] 2 new commits pushed by ada'),
    });
    expect(JSON.stringify(of('slack')?.body)).toContain('mend &lt;b&gt; &amp; more');
    expect(of('discord')?.body).toMatchObject({ embeds: [{ title: '[ada/demo:chat] 2 new commits pushed by ada' }] });
    expect(of('msteams')?.body).toMatchObject({
      '@type': 'MessageCard',
      title: '[ada/demo:chat] 2 new commits pushed by ada',
    });
    expect(of('telegram')?.body).toMatchObject({
      parse_mode: 'HTML',
      text: expect.stringContaining('mend &lt;b&gt; &amp; more'),
    });
    expect(of('matrix')).toMatchObject({ method: 'PUT', body: { msgtype: 'm.notice' } });
  });
});
