import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api } from '../../support/api.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { needs } from '../../support/requirements.ts';

needs('git-lfs');

let fixture: GitFixture;
let cwd = '';
const large = Buffer.alloc(20_000, 'large ');
const id = async (name: string): Promise<string> => (await fixture.git(['rev-parse', name], { cwd })).stdout.trim();

beforeAll(async () => {
  fixture = await openGitFixture();
  await fixture.create('lamp');
  cwd = await fixture.work('lamp', { 'a.txt': 'one\n', 'umlaut.txt': 'x\n' });
  await fixture.git(['lfs', 'install', '--local'], { cwd });
  await fixture.git(['lfs', 'track', '*.psd'], { cwd });
  writeFileSync(join(cwd, 'big.psd'), large);
  writeFileSync(join(cwd, 'umlaut.txt'), Buffer.from('gr\u00fc\u00dfe\n', 'latin1'));
  const wide = Buffer.from('\ufeffgrüße\nzwei\n', 'utf16le');
  writeFileSync(join(cwd, 'utf16le.txt'), wide);
  writeFileSync(join(cwd, 'utf16be.txt'), Buffer.from(wide).swap16());
  await fixture.git(['add', '.'], { cwd });
  await fixture.git(['commit', '-qm', 'base commit'], { cwd });
  await fixture.git(['tag', 'rel/1.0'], { cwd });
  const remote = `${fixture.signedUrl}/ada/lamp.git`;
  await fixture.git(['push', '-q', remote, 'main', 'main:odd/50%', 'rel/1.0'], { cwd });
  writeFileSync(join(cwd, 'a.txt'), 'one\ntwo\n');
  writeFileSync(join(cwd, 'umlaut.txt'), 'grüße\n');
  await fixture.git(['commit', '-qam', 'topic commit'], { cwd });
  await fixture.git(['push', '-q', remote, 'main:topic', 'main:odd.diff'], { cwd });
  await fixture.git(['commit', '-q', '--allow-empty', '-m', 'only on main'], { cwd });
  const created = [
    await fixture.api('POST', '/repos/ada/lamp/milestones', { title: 'Spring' }),
    await fixture.api('POST', '/repos/ada/lamp/labels', { name: 'bug', color: '#ee0701' }),
    await fixture.api('POST', '/repos/ada/lamp/issues', { title: 'In the milestone', milestone: 1 }),
    await fixture.api('POST', '/repos/ada/lamp/issues', { title: 'With the label', labels: [1] }),
  ];
  expect(created.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const open = (path: string, headers: Record<string, string> = { accept: 'text/html' }): Promise<Response> =>
  fetch(fixture.url + path, { redirect: 'manual', headers });

describe('a comparison', () => {
  it.each(['main...topic', 'main..topic', 'topic', 'main...ada:topic', 'main...ADA/lamp:topic', 'rel/1.0...topic'])(
    'is shown to visitors: %s',
    async (range) => {
      const reply = await open(`/ada/lamp/compare/${range}`);
      const body = await reply.text();
      expect(reply.status).toBe(200);
      expect(body).toContain('topic commit');
      expect(body).not.toContain('base commit');
      expect(body).toContain('+two');
    },
  );

  it.each(['main...topic', 'main..topic', 'odd/50%25...ada:topic'])('is answered as text: %s', async (range) => {
    const diff = await open(`/ada/lamp/compare/${range}.diff`);
    expect([diff.status, diff.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(await diff.text()).toContain('+two');
    expect(await (await open(`/ada/lamp/compare/${range}.patch`)).text()).toContain('Subject: [PATCH] topic commit');
  });

  it('prefers a branch whose name ends like a format', async () => {
    expect((await open('/ada/lamp/compare/main...odd.diff')).headers.get('content-type')).toContain('text/html');
    expect((await open('/ada/lamp/compare/main...odd.diff.diff')).headers.get('content-type')).toContain('text/plain');
  });

  it.each(['main...none', 'main...bob:topic', 'main...ada/none:topic'])('is not found: %s', async (range) => {
    expect((await open(`/ada/lamp/compare/${range}`)).status).toBe(404);
    expect((await open(`/ada/lamp/compare/${range}.patch`)).status).toBe(404);
  });

  it('accepts the same forms in the API', async () => {
    for (const range of ['main...topic', 'topic', 'main...ada:topic', 'main...ada/lamp:topic']) {
      const reply = await fixture.api('GET', `/repos/ada/lamp/compare/${range}`);
      expect([range, reply.status, await reply.json()]).toMatchObject([range, 200, { total_commits: 1 }]);
    }
  });

  it.each([
    ['main...bob:topic', '/git/repositories/bob~lamp?show=commits&tree=any/topic'],
    ['main...bob/fork:topic', '/git/repositories/bob~fork?show=commits&tree=any/topic'],
    ['topic', '/git/repositories/ada~lamp?show=commits&tree=any/topic'],
  ])('leads to the commits of its second side in the app: %s', async (range, page) => {
    const headers = { accept: 'text/html', cookie: 'homeport-app=1' };
    const location = new URL((await open(`/ada/lamp/compare/${range}`, headers)).headers.get('location') ?? '');
    expect(decodeURIComponent(location.pathname + location.search)).toBe(page);
  });
});

describe('a file by its object ID', () => {
  it('is answered, with the content of Git LFS at media', async () => {
    const [text, pointer] = [await id('HEAD:a.txt'), await id('HEAD:big.psd')];
    for (const kind of ['raw', 'media']) {
      expect(await (await open(`/ada/lamp/${kind}/blob/${text}`)).text()).toBe('one\ntwo\n');
    }
    expect(await (await open(`/ada/lamp/raw/blob/${pointer}`)).text()).toMatch(/^version https:\/\/git-lfs/);
    const media = await open(`/ada/lamp/media/blob/${pointer}`);
    expect(Buffer.from(await media.arrayBuffer()).equals(large)).toBe(true);
    for (const missing of ['0'.repeat(40), await id('HEAD')])
      expect((await open(`/ada/lamp/raw/blob/${missing}`)).status).toBe(404);
  });
});

describe('a bundle', () => {
  it.each(['main', 'topic', 'rel/1.0'])('can be cloned: %s', async (name) => {
    const file = join(fixture.folder, 'history.bundle');
    const reply = await open(`/ada/lamp/archive/${name}.bundle`);
    expect(reply.status).toBe(200);
    writeFileSync(file, Buffer.from(await reply.arrayBuffer()));
    const branch = name === 'main' ? [] : ['--branch', name];
    const folder = `from-${name.replace('/', '-')}`;
    await fixture.git(['clone', '-q', ...branch, file, folder]);
    const { stdout } = await fixture.git(['log', '--format=%s', '-1'], { cwd: join(fixture.folder, folder) });
    expect(stdout.trim()).toBe(name === 'topic' ? 'topic commit' : 'base commit');
  });

  it('needs the name of a branch or tag', async () => {
    expect((await open(`/ada/lamp/archive/${await id('HEAD')}.bundle`)).status).toBe(404);
  });
});

describe('other addresses of Gitea', () => {
  it.each([
    ['/ada/lamp/milestone/1', 'In the milestone', 'With the label'],
    ['/ada/lamp/issues?milestone=1', 'In the milestone', 'With the label'],
    ['/ada/lamp/issues?labels=1', 'With the label', 'In the milestone'],
    ['/ada/lamp/releases/tag/rel/1.0', 'archive/rel/1.0.zip', 'There are no releases'],
    ['/ada/lamp/src/branch/odd/50%25/a.txt', 'id="L1"', 'id="L2"'],
    ['/ada/lamp/src/branch/odd%2F50%25/a.txt?plain=1', 'id="L1"', 'id="L2"'],
  ])('shows the page: %s', async (path, text, otherText) => {
    const reply = await open(path);
    const body = await reply.text();
    expect(reply.status).toBe(200);
    expect(body).toContain(text);
    expect(body).not.toContain(otherText);
  });

  it.each([
    ...['wiki', 'wiki/Home', 'actions', 'actions/workflows/ci.yml/badge.svg', 'badges/release.svg', 'projects/1'],
    ...['releases.rss', 'tags.atom', 'rss/branch/main', 'packages'],
  ])('is not found, also in a browser that uses the app: %s', async (path) => {
    for (const cookie of ['', 'homeport-app=1'])
      expect((await open(`/ada/lamp/${path}`, { accept: 'text/html', cookie })).status).toBe(404);
  });

  it.each(['/ada/-/packages', '/ada/-/projects', '/ada/lamp.rss'])('is not found below an owner: %s', async (path) => {
    expect((await open(path, { accept: 'text/html', cookie: 'homeport-app=1' })).status).toBe(404);
  });

  it('opens the form of a new issue with a draft', async () => {
    const path = '/ada/lamp/issues/new?title=It%20broke&body=How%3F&template=bug.md';
    const location = (await open(path, { accept: 'text/html', cookie: 'homeport-app=1' })).headers.get('location');
    const fields = Object.fromEntries(new URL(location ?? '').searchParams);
    expect(fields).toEqual({ show: 'issues', new: '1', title: 'It broke', body: 'How?' });
  });
});

describe('a text in another encoding than UTF-8', () => {
  const read = <Reply>(path: string): Promise<Reply> =>
    api<Reply>(fixture.host.url('control'), `/api/git/repositories/ada/lamp/${path}`);
  interface Diff {
    readonly files: readonly { readonly path: string; readonly patch: string | null }[];
  }

  it('is decoded in the changes of a commit, line by line', async () => {
    const { files } = await read<Diff>(`commits/${await id('HEAD~1')}`);
    expect(files.find(({ path }) => path === 'umlaut.txt')?.patch).toContain('-grüße\n+grüße\n');
    const page = await (await open(`/ada/lamp/commit/${await id('HEAD~1')}`)).text();
    expect(page).toContain('-grüße');
    expect(page).not.toContain('\ufffd');
  });

  it.each([
    ['umlaut.txt', ['grüße']],
    ['utf16le.txt', ['grüße', 'zwei']],
    ['utf16be.txt', ['grüße', 'zwei']],
    ['a.txt', ['one']],
  ])('is decoded beside the commits of its lines: %s', async (path, lines) => {
    const { parts } = await read<{ parts: readonly { lines: readonly string[] }[] }>(`blame?path=${path}&ref=main`);
    expect(parts.flatMap((part) => part.lines)).toEqual(lines);
  });
});
