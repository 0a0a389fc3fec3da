import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api } from '../../support/api.ts';
import { adminAuthorization } from '../../support/host.ts';
import { packedBlob, buildPack, swellingDelta } from './pack-builder.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

const zeros = '0'.repeat(40);
const line = (text: string): string => (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;
let fixture: GitFixture;
let head = '';

beforeAll(async () => {
  fixture = await openGitFixture();
  await fixture.create('demo');
  const cwd = await fixture.work('demo');
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main'], { cwd });
  head = (await fixture.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const readApp = (path: string): Promise<any> => api(fixture.host.url('control'), `/api/git/repositories/ada/${path}`);

describe('a highly compressed pack', () => {
  const push = async (ref: string, objects: readonly Buffer[]) => {
    const command = Buffer.from(`${line(`${zeros} ${head} ${ref}\0 report-status`)}0000`);
    const reply = await fetch(`${fixture.url}/ada/demo.git/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: adminAuthorization, 'content-type': 'application/x-git-receive-pack-request' },
      body: Buffer.concat([command, buildPack(objects)]),
    });
    return reply.text();
  };
  const base = Buffer.alloc(0x1_0000);

  it('is accepted at a usual size and rejected at a gigabyte, unpacked or kept', async () => {
    expect(await push('refs/heads/small', [packedBlob(base), swellingDelta(base, 64)])).toContain(
      'ok refs/heads/small',
    );
    const many = Array.from({ length: 120 }, (_, index) => packedBlob(Buffer.from(`file ${index}`)));
    for (const [ref, others] of [
      ['refs/heads/few', []],
      ['refs/heads/many', many],
    ] as const) {
      const before = process.memoryUsage().rss;
      const text = await push(ref, [packedBlob(base), swellingDelta(base, 16 * 1024), ...others]);
      expect(text).not.toContain('unpack ok');
      expect(text).toContain(`ng ${ref}`);
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
    }
    const { stdout } = await fixture.git(['ls-remote', '--heads', `${fixture.signedUrl}/ada/demo.git`]);
    expect(stdout.split('\n').map((entry) => entry.split('\t')[1])).toEqual([
      'refs/heads/main',
      'refs/heads/small',
      undefined,
    ]);
  });
});

describe('a tree that contains the same folder repeatedly', () => {
  it('is stored, and requests about its hundred million files have bounded memory', async () => {
    await fixture.create('bomb');
    const cwd = await fixture.work('bomb');
    const mktree = async (entry: string): Promise<string> => {
      const input = Array.from({ length: 10 }, (_, index) => `${entry}\tf${index}\n`).join('');
      return (await fixture.git(['mktree'], { cwd, input })).stdout.trim();
    };
    const blob = (await fixture.git(['rev-parse', 'HEAD:README.md'], { cwd })).stdout.trim();
    let tree = await mktree(`100644 blob ${blob}`);
    for (let level = 1; level < 8; level += 1) tree = await mktree(`040000 tree ${tree}`);
    const commit = (await fixture.git(['commit-tree', '-m', 'many', tree], { cwd })).stdout.trim();
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/bomb.git`, `${commit}:refs/heads/main`], { cwd });

    const content = await readApp('bomb/content');
    expect(content.entries.map(({ name, last }: any) => [name, last.title])).toEqual(
      Array.from({ length: 10 }, (_, index) => [`f${index}`, 'many']),
    );
    expect(await readApp(`bomb/commits/${commit}`)).toMatchObject({
      commit: { title: 'many' },
      files: [],
      total: null,
    });
    const [visibleFiles] = (await (await fixture.api('GET', '/repos/ada/bomb/commits?limit=1')).json()) as {
      sha: string;
      files: unknown[];
    }[];
    expect(visibleFiles).toMatchObject({ sha: commit, files: [] });
    for (const path of ['archive/main.zip', 'git/trees/main?recursive=true', 'languages']) {
      expect([path, (await fixture.api('GET', `/repos/ada/bomb/${path}`)).status]).toEqual([path, 413]);
    }
    const change = await fixture.api('POST', '/repos/ada/bomb/contents/new.txt', { content: 'bmV3' });
    expect(change.status).toBe(413);
    for (const kind of ['diff', 'patch'])
      expect((await fixture.api('GET', `/repos/ada/bomb/git/commits/${commit}.${kind}`)).status).toBe(413);
    expect((await fixture.api('GET', '/repos/ada/demo')).status).toBe(200);
  });
});

describe('a file with one line of ten million characters', () => {
  it('can be cloned and downloaded, and is not rendered', async () => {
    await fixture.create('wide');
    const cwd = await fixture.work('wide', { 'wide.txt': 'x'.repeat(10_000_000), 'README.md': '['.repeat(99_000) });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/wide.git`, 'main'], { cwd });
    const { readme, entries } = await readApp('wide/content');
    expect([readme.text.length, entries.length]).toEqual([99_000, 2]);
    expect(await readApp('wide/content?path=wide.txt')).toMatchObject({ kind: 'file', size: 10_000_000, text: null });
    const [commit] = (await readApp('wide/commits')).commits;
    const { files, total } = await readApp(`wide/commits/${commit.id}`);
    expect([total, files.map(({ path, patch }: any) => [path, patch === null])]).toEqual([
      2,
      [
        ['README.md', false],
        ['wide.txt', true],
      ],
    ]);
    const diff = await (await fixture.api('GET', `/repos/ada/wide/git/commits/${commit.id}.diff`)).text();
    expect(diff).toContain(`\n+${'['.repeat(99_000)}\n`);
    await expect(readApp('wide/blame?path=wide.txt')).rejects.toThrow('413');
    expect((await (await fixture.api('GET', '/repos/ada/wide/raw/wide.txt')).text()).length).toBe(10_000_000);
  });
});

describe('a commit whose paths exceed the length of a command line', () => {
  it('is shown with the diffs of the requested files', async () => {
    await fixture.create('long');
    const cwd = await fixture.work('long');
    const blob = (await fixture.git(['rev-parse', 'HEAD:README.md'], { cwd })).stdout.trim();
    const long = 'x'.repeat(8000);
    const input = Array.from(
      { length: 300 },
      (_, index) => `100644 blob ${blob}\t${String(index).padStart(3, '0')}${long}\n`,
    ).join('');
    const tree = (await fixture.git(['mktree'], { cwd, input })).stdout.trim();
    const commit = (await fixture.git(['commit-tree', '-m', 'long', tree], { cwd })).stdout.trim();
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/long.git`, `${commit}:refs/heads/main`], { cwd });
    const { files, total } = await readApp(`long/commits/${commit}`);
    expect([total, files.length]).toEqual([300, 300]);
    const content = files.map(({ patch }: any) => patch);
    expect(content).toEqual([
      ...Array.from({ length: 2 }, () => expect.stringContaining('+# demo')),
      ...Array.from({ length: 298 }, () => null),
    ]);
  });
});

describe('a large file of Git LFS', () => {
  it('is stored as sent, without decompression', async () => {
    const bytes = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const oid = createHash('sha256')
      .update(Buffer.alloc(64 * 1024 * 1024))
      .digest('hex');
    const put = (size: number) =>
      fetch(`${fixture.url}/ada/demo.git/info/lfs/objects/${oid}/${size}`, {
        method: 'PUT',
        headers: { authorization: adminAuthorization, 'content-encoding': 'gzip' },
        body: Uint8Array.from(bytes),
      });
    expect((await put(64 * 1024 * 1024)).status).toBe(422);
    expect((await put(bytes.length)).status).toBe(422);
    expect(readdirSync(join(fixture.host.dataDir, 'git', 'lfs', '.incoming'))).toEqual([]);
  });
});
