import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { extract, pack } from 'tar-stream';
import { gitMovingApi } from '../../../services/contracts/git/moving-api.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { needs } from '../../support/requirements.ts';

needs('git-lfs');

let fixture: GitFixture;
let bob = '';
beforeAll(async () => {
  fixture = await openGitFixture();
  bob = await fixture.account('bob');
});
afterAll(() => fixture[Symbol.asyncDispose]());

const json = async (method: string, path: string, body?: unknown, authorization?: string): Promise<any> => {
  const reply = await fixture.api(method, path, body, authorization);
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  const text = await reply.text();
  return text === '' ? undefined : JSON.parse(text);
};
const bytes = (path: string, body: Uint8Array<ArrayBuffer>, authorization = adminAuthorization) =>
  fetch(`${fixture.url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-tar' },
    body,
  });
const restored = (body: Uint8Array<ArrayBuffer>, name: string) => bytes(`/repos/restore?name=${name}`, body);
const backup = async (name: string) =>
  new Uint8Array(await (await fixture.api('GET', `/repos/ada/${name}/backup`)).arrayBuffer());
const tar = async (files: Record<string, string | Buffer>): Promise<Uint8Array<ArrayBuffer>> => {
  const response = pack();
  for (const [name, text] of Object.entries(files)) response.entry({ name }, text);
  response.finalize();
  const parts: Buffer[] = [];
  for await (const part of response as AsyncIterable<Buffer>) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
};

/** Creates a repository with data of every kind. */
async function createLamp(): Promise<string> {
  await fixture.create('lamp', { description: 'shines' });
  const cwd = await fixture.work('lamp');
  await fixture.git(['lfs', 'install', '--local'], { cwd });
  await fixture.git(['lfs', 'track', '*.bin'], { cwd });
  writeFileSync(join(cwd, 'big.bin'), 'a large file');
  await fixture.run(
    'sh',
    [
      '-c',
      'git add . && git commit -qm large && git tag v0 && git checkout -qb dev && echo n > n && git add n && git commit -qm dev',
    ],
    { cwd },
  );
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/lamp.git`, 'main', 'dev', 'v0'], { cwd });
  const base = '/repos/ada/lamp';
  const { id: label } = await json('POST', `${base}/labels`, { name: 'bug', color: '#ee0701' });
  const { id: milestone } = await json('POST', `${base}/milestones`, { title: 'Winter' });
  await json('POST', `${base}/issues`, { title: 'Flickers', body: 'at night', milestone, assignees: ['bob'] });
  await json('POST', `${base}/issues/1/labels`, { labels: [label] });
  await json('POST', `${base}/issues/1/comments`, { body: 'I see it' }, bob);
  await json('POST', `${base}/issues/1/reactions`, { content: 'heart' }, bob);
  await json('POST', `${base}/issues/1/times`, { time: 90 });
  await json('POST', `${base}/issues/1/pin`);
  const form = new FormData();
  form.set('attachment', new Blob(['a picture']), 'lamp.png');
  const sent = await fetch(`${fixture.url}/api/v1${base}/issues/1/assets`, {
    method: 'POST',
    headers: { authorization: adminAuthorization },
    body: form,
  });
  const { uuid } = (await sent.json()) as { uuid: string };
  await json('PATCH', `${base}/issues/1`, { body: `at night ![](/attachments/${uuid})` });
  await json('DELETE', `${base}/issues/${(await json('POST', `${base}/issues`, { title: 'Never was' })).number}`);
  await json('POST', `${base}/pulls`, { title: 'Dev', head: 'dev', base: 'main' });
  await json('POST', `${base}/issues/3/dependencies`, { index: 1 });
  await json('PUT', `${base}/collaborators/bob`, { permission: 'write' });
  await json(
    'POST',
    `${base}/pulls/3/reviews`,
    { event: 'APPROVED', body: 'good', comments: [{ path: 'n', body: 'why', new_position: 1 }] },
    bob,
  );
  const { id: release } = await json('POST', `${base}/releases`, { tag_name: 'v1', body: 'notes' });
  await fetch(`${fixture.url}/api/v1${base}/releases/${release}/assets?name=a.txt`, {
    method: 'POST',
    headers: { authorization: adminAuthorization },
    body: 'asset',
  });
  await json('POST', `${base}/branch_protections`, { rule_name: 'main', required_approvals: 1 });
  await json('POST', `${base}/tag_protections`, { name_pattern: 'v*', whitelist_usernames: ['bob'] });
  const sha = (await json('GET', `${base}/branches/main`)).commit.id;
  await json('POST', `${base}/statuses/${sha}`, { state: 'success', context: 'ci' });
  return cwd;
}

describe('a repository file', () => {
  let cwd = '';
  beforeAll(async () => {
    cwd = await createLamp();
    const file = await backup('lamp');
    expect((await restored(file, 'lamp')).status).toBe(409);
    const response = await restored(file, 'second');
    expect([response.status, await response.json()]).toMatchObject([
      201,
      { full_name: 'ada/second', description: 'shines', default_branch: 'main', open_issues_count: 1 },
    ]);
    // The same file can be restored again, also after the first copy was deleted.
    expect((await fixture.api('DELETE', '/repos/ada/lamp')).status).toBe(204);
    expect((await restored(file, '')).status).toBe(201);
  });

  describe.each(['second', 'lamp'])('restored as %s', (name) => {
    const of = `/repos/ada/${name}`;

    it('restores commits, tags and large files', async () => {
      const copy = join(fixture.folder, `copy-${name}`);
      await fixture.git(['clone', '-q', `${fixture.signedUrl}/ada/${name}.git`, copy]);
      expect((await fixture.git(['rev-parse', 'HEAD', 'origin/dev', 'v0'], { cwd: copy })).stdout).toBe(
        (await fixture.git(['rev-parse', 'main', 'dev', 'v0'], { cwd })).stdout,
      );
      await fixture.git(['lfs', 'install', '--local'], { cwd: copy });
      await fixture.git(['lfs', 'pull'], { cwd: copy });
      expect(readFileSync(join(copy, 'big.bin'), 'utf8')).toBe('a large file');
    });

    it('restores issues with their comments, reactions, times, files and timeline', async () => {
      expect(await json('GET', `${of}/issues/1`)).toMatchObject({
        title: 'Flickers',
        labels: [{ name: 'bug' }],
        milestone: { title: 'Winter' },
        assignees: [{ login: 'bob' }],
        comments: 1,
      });
      expect(await json('GET', `${of}/issues/1/comments`)).toMatchObject([
        { body: 'I see it', user: { login: 'bob' } },
      ]);
      expect(await json('GET', `${of}/issues/1/reactions`)).toMatchObject([{ content: 'heart' }]);
      expect((await json('GET', `${of}/issues?q=night`)).length).toBe(1);
      expect(await json('GET', `${of}/issues/1/times`)).toMatchObject([{ time: 90, user_name: 'ada' }]);
      expect(await json('GET', `${of}/issues/3/dependencies`)).toMatchObject([{ number: 1 }]);
      const restoredIssue = await json('GET', `${of}/issues/1`);
      expect(restoredIssue).toMatchObject({ pin_order: 1, assets: [{ name: 'lamp.png', size: 9 }] });
      // Texts refer to the file by its new ID.
      expect(restoredIssue.body).toBe(`at night ![](/attachments/${restoredIssue.assets[0].uuid})`);
      expect(await (await fetch(restoredIssue.assets[0].browser_download_url)).text()).toBe('a picture');
      const timeline = await json('GET', `${of}/issues/1/timeline`);
      expect(timeline.find(({ type }: { type: string }) => type === 'label')).toMatchObject({ label: { name: 'bug' } });
    });

    it('restores pull requests, reviews, releases, protections and statuses', async () => {
      expect(await json('GET', `${of}/pulls/3`)).toMatchObject({ title: 'Dev', mergeable: true, head: { ref: 'dev' } });
      const [review] = await json('GET', `${of}/pulls/3/reviews`);
      expect(review).toMatchObject({ state: 'APPROVED', body: 'good', user: { login: 'bob' }, comments_count: 1 });
      const [listedRelease] = await json('GET', `${of}/releases`);
      expect(listedRelease).toMatchObject({ tag_name: 'v1', assets: [{ name: 'a.txt', size: 5 }] });
      expect(await (await fetch(listedRelease.assets[0].browser_download_url)).text()).toBe('asset');
      expect(await json('GET', `${of}/branch_protections/main`)).toMatchObject({ required_approvals: 1 });
      expect(await json('GET', `${of}/tag_protections`)).toMatchObject([
        { name_pattern: 'v*', whitelist_usernames: ['bob'] },
      ]);
      expect(await json('GET', `${of}/commits/main/status`)).toMatchObject({ state: 'success' });
    });

    it('continues the numbers of issues, and merges a restored pull request', async () => {
      expect((await json('POST', `${of}/issues`, { title: 'Next' })).number).toBe(4);
      await json('PATCH', `${of}/issues/1`, { state: 'closed' });
      expect((await fixture.api('POST', `${of}/pulls/3/merge`, { Do: 'merge' })).status).toBe(200);
    });
  });

  it('contains the remaining data if files are missing', async () => {
    await fixture.create('lossy', { auto_init: true });
    const base = '/repos/ada/lossy';
    const dataFolder = join(fixture.host.dataDir, 'git');
    const send = (path: string, method: string, body: string) =>
      fetch(`${fixture.url}${path}`, { method, headers: { authorization: adminAuthorization }, body });
    const attach = async (path: string) =>
      (await (await send(`/api/v1${base}/${path}`, 'POST', path)).json()).uuid as string;
    await json('POST', `${base}/issues`, { title: 'Files' });
    await attach('issues/1/assets?name=kept.txt');
    const lost = [await attach('issues/1/assets?name=lost.txt')];
    const { id } = await json('POST', `${base}/releases`, { tag_name: 'v1' });
    await attach(`releases/${id}/assets?name=kept.txt`);
    lost.push(await attach(`releases/${id}/assets?name=lost.txt`));
    for (const text of ['kept', 'lost']) {
      const oid = createHash('sha256').update(text).digest('hex');
      expect((await send(`/ada/lossy.git/info/lfs/objects/${oid}/4`, 'PUT', text)).status).toBe(200);
      if (text === 'lost') lost.push(oid);
    }
    const files = readdirSync(dataFolder, { recursive: true }) as string[];
    const lostFiles = files.filter((path) => lost.some((name) => path.endsWith(name)));
    expect(lostFiles).toHaveLength(3);
    for (const path of lostFiles) rmSync(join(dataFolder, path));

    const file = await backup('lossy');
    const record = JSON.parse((await contents(file))['repository.json'] ?? '');
    expect([record.issue_attachments, record.release_assets, record.largeFiles].map(({ length }) => length)).toEqual([
      1, 1, 1,
    ]);
    expect((await restored(file, 'lossless')).status).toBe(201);
    expect((await json('GET', '/repos/ada/lossless/issues/1')).assets).toMatchObject([{ name: 'kept.txt' }]);
    expect((await json('GET', '/repos/ada/lossless/releases'))[0].assets).toMatchObject([{ name: 'kept.txt' }]);
    const warning = fixture.host.log.find((text) => text.includes('created with missing files')) ?? '';
    for (const name of lost) expect(warning).toContain(name);
  });

  it('requires an administrator, and a damaged or malicious file leaves nothing behind', async () => {
    await fixture.create('small', { auto_init: true });
    const file = await backup('small');
    expect((await fixture.api('GET', '/repos/ada/small/backup', undefined, bob)).status).toBe(403);
    expect((await bytes('/repos/restore?name=x', file, bob)).status).toBe(403);
    const record = JSON.stringify({ format: 'homeport-repository', version: 1 });
    const hostile: Record<string, Uint8Array<ArrayBuffer>> = {
      empty: new Uint8Array(),
      junk: new TextEncoder().encode('x'.repeat(2000)),
      cut: file.slice(0, Math.floor(file.length * 0.6)),
      record: await tar({ 'repository.json': record }),
      path: await tar({ 'repository.json': record, '../../../evil': 'x' }),
      other: await tar({ 'repository.json': record, 'repository.bundle/hooks/post-receive': 'x' }),
    };
    // A valid archive whose bundle does not match its record.
    const text = Buffer.from(file).toString('latin1');
    hostile['bundle'] = new Uint8Array(Buffer.from(text.replace('PACK', 'KCAP'), 'latin1'));
    for (const [name, body] of Object.entries(hostile)) {
      const reply = await restored(body, `x-${name}`);
      expect([name, reply.status, await reply.text()]).toEqual([
        name,
        422,
        expect.stringContaining('can’t be restored'),
      ]);
      expect((await fixture.api('GET', `/repos/ada/x-${name}`)).status).toBe(404);
    }
    expect(readdirSync(join(fixture.host.dataDir, 'git')).includes('evil')).toBe(false);
    const remaining = readdirSync(join(fixture.host.dataDir, 'git', 'portable'));
    // Backup files remain for interrupted downloads; sent files are removed.
    for (const name of remaining)
      expect(readdirSync(join(fixture.host.dataDir, 'git', 'portable', name))).toEqual([
        expect.stringMatching(/\.tar$/),
      ]);
    expect((await restored(file, 'fine')).status).toBe(201);
  });
});

/** Reads the content of a backup. */
const contents = async (file: Uint8Array): Promise<Record<string, string>> => {
  const files: Record<string, string> = {};
  const entries = extract();
  entries.end(file);
  for await (const entry of entries) {
    const parts: Buffer[] = [];
    for await (const part of entry as AsyncIterable<Buffer>) parts.push(part);
    files[entry.header.name] = Buffer.concat(parts).toString('latin1');
  }
  return files;
};
/** Creates the backup of a new repository with a changed record. */
const changed = async (name: string, change: (record: any) => void) => {
  await fixture.create(name);
  const record = JSON.parse((await contents(await backup(name)))['repository.json'] ?? '');
  expect((await fixture.api('DELETE', `/repos/ada/${name}`)).status).toBe(204);
  change(record);
  return tar({ 'repository.json': JSON.stringify(record) });
};

describe('the content of a backup', () => {
  it('is rejected for an invalid repository name', async () => {
    for (const name of ['', '..', '../../x', 'a/b', 'x.git', 'ä']) {
      const file = await changed('named', (record) => (record.repository.name = name));
      const reply = await restored(file, '');
      expect([name, reply.status, await reply.text()]).toEqual([
        name,
        422,
        expect.stringContaining('can’t be restored'),
      ]);
      expect((await restored(file, 'renamed')).status).toBe(201);
      expect((await fixture.api('DELETE', '/repos/ada/renamed')).status).toBe(204);
    }
  });

  it('is rejected if one of its large files is missing, and the host continues', async () => {
    const file = await changed('without-large', ({ largeFiles }) => largeFiles.push({ oid: '0'.repeat(64), size: 1 }));
    const reply = await restored(file, 'without-large');
    expect([reply.status, await reply.text()]).toEqual([422, expect.stringContaining('doesn’t contain lfs-000')]);
    expect((await fixture.api('GET', '/repos/ada/without-large')).status).toBe(404);
  });

  it('does not include pending reviews', async () => {
    await fixture.create('reviewed');
    const cwd = await fixture.work('reviewed');
    await fixture.run('sh', ['-c', 'git checkout -qb dev && echo n > n && git add n && git commit -qm dev'], { cwd });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/reviewed.git`, 'main', 'dev'], { cwd });
    await json('POST', '/repos/ada/reviewed/pulls', { title: 'Dev', head: 'dev', base: 'main' });
    const review = (overrides: object) => json('POST', '/repos/ada/reviewed/pulls/1/reviews', overrides, bob);
    await review({
      event: 'COMMENT',
      body: 'said aloud',
      comments: [{ path: 'n', body: 'on a line', new_position: 1 }],
    });
    await review({ body: 'a thought', comments: [{ path: 'n', body: 'whispered', new_position: 1 }] });
    const text = (await contents(await backup('reviewed')))['repository.json'] ?? '';
    expect(JSON.parse(text)).toMatchObject({
      reviews: [{ state: 'COMMENT' }],
      issue_entries: expect.arrayContaining([expect.objectContaining({ body: 'on a line' })]),
    });
    for (const output of ['a thought', 'whispered', 'PENDING']) expect(text).not.toContain(output);
  });

  it('is rejected for invalid timeline entries', async () => {
    const issue = (id: number) => ({
      id,
      number: id,
      pull: 0,
      author: 'ada',
      title: `t${id}`,
      body: '',
      closed: 0,
      locked: 0,
      ref: '',
      milestone_id: null,
      comments: 0,
      due_at: null,
      created_at: 1,
      updated_at: 1,
      closed_at: null,
    });
    const entry = (details: string) => ({
      id: 1,
      issue_id: 1,
      kind: 'comment',
      author: 'ada',
      body: 'b',
      details,
      review_id: null,
      created_at: 1,
      updated_at: 1,
    });
    for (const details of ['{', 'null', '']) {
      const file = await changed(
        'senseless',
        ({ issue_entries, issues }) => void (issues.push(issue(1)), issue_entries.push(entry(details))),
      );
      expect([details, (await restored(file, 'senseless')).status]).toEqual([details, 422]);
    }
    const rule = await changed('senseless', ({ protections }) =>
      protections.push({ rule: 'main', options: '{', created_at: 1, updated_at: 1 }),
    );
    expect((await restored(rule, 'senseless')).status).toBe(422);
  });

  it('is rejected for objects that a push may not contain', async () => {
    const push = (name: string, cwd: string) =>
      fixture.git(['push', '-q', `${fixture.signedUrl}/ada/${name}.git`, 'main'], { cwd, mayFail: true });
    const write = async (cwd: string, type: string, input: string) =>
      (await fixture.git(['hash-object', '-w', '--literally', '-t', type, '--stdin'], { cwd, input })).stdout.trim();
    // Old programs omitted the space.
    const malformed = await fixture.work('odd');
    const { stdout: tree } = await fixture.git(['rev-parse', 'HEAD^{tree}'], { cwd: malformed });
    const identity = 'Ann <ann@example.org>1700000000 +0000';
    await fixture.git(
      [
        'update-ref',
        'refs/heads/main',
        await write(malformed, 'commit', `tree ${tree}author ${identity}\ncommitter ${identity}\n\nodd\n`),
      ],
      { cwd: malformed },
    );
    await fixture.create('odd');
    expect((await push('odd', malformed)).code).toBe(0);
    const reply = await restored(await backup('odd'), 'odd-again');
    expect([reply.status, await reply.json()]).toMatchObject([201, { empty: false }]);

    const evil = await fixture.work('evil');
    const { stdout: inner } = await fixture.git(['rev-parse', 'HEAD^{tree}'], { cwd: evil });
    const outer = (
      await fixture.git(['mktree'], { cwd: evil, input: `040000 tree ${inner.trim()}\t.git\n` })
    ).stdout.trim();
    const commit = (await fixture.git(['commit-tree', '-m', 'evil', outer], { cwd: evil })).stdout.trim();
    await fixture.git(['update-ref', 'refs/heads/main', commit], { cwd: evil });
    await fixture.create('evil');
    expect((await push('evil', evil)).stderr).toContain('hasDotgit');
    await fixture.git(['bundle', 'create', '-q', 'all', '--all'], { cwd: evil });
    const record = (await contents(await backup('evil')))['repository.json'] ?? '';
    const file = await tar({ 'repository.json': record, 'repository.bundle': readFileSync(join(evil, 'all')) });
    expect((await restored(file, 'evil-again')).status).toBe(422);
    expect((await fixture.api('GET', '/repos/ada/evil-again')).status).toBe(404);
  });
});

describe('publishing a folder', () => {
  const publish = (folder: string, name: string, authorization = adminAuthorization) =>
    fetch(`${fixture.host.url('control')}${gitMovingApi.publish.path}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ folder, name, private: true }),
    });

  it('commits its files except ignored ones and sets the remote for pushes', async () => {
    const folder = join(fixture.folder, 'project');
    mkdirSync(join(folder, 'src'), { recursive: true });
    writeFileSync(join(folder, 'src', 'a.txt'), 'a\n');
    writeFileSync(join(folder, 'secret.env'), 'x\n');
    writeFileSync(join(folder, '.gitignore'), '*.env\n');
    const response = await publish(folder, 'project');
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { files: 2, remote: 'origin', repository: { name: 'project', empty: false } },
    ]);
    expect((await json('GET', '/repos/ada/project/contents/src/a.txt')).type).toBe('file');
    expect((await fixture.api('GET', '/repos/ada/project/contents/secret.env')).status).toBe(404);
    expect((await fixture.git(['status', '--porcelain'], { cwd: folder })).stdout).toBe('');
    writeFileSync(join(folder, 'b.txt'), 'b\n');
    await fixture.git(['add', '.'], { cwd: folder });
    await fixture.git(['commit', '-qm', 'b'], { cwd: folder });
    await fixture.git(['-c', `url.${fixture.signedUrl}/.insteadOf=${fixture.url}/`, 'push', '-q', 'origin', 'main'], {
      cwd: folder,
    });
    expect((await json('GET', '/repos/ada/project/commits')).length).toBe(2);
    expect((await publish(folder, 'project')).status).toBe(409);
  });

  it('imports an existing git repository without running its programs', async () => {
    const cwd = await fixture.work('old');
    const trap = join(fixture.folder, 'trapped');
    const program = join(fixture.folder, 'trap.sh');
    writeFileSync(program, `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 });
    for (const hook of ['pre-commit', 'post-checkout', 'reference-transaction'])
      symlinkSync(program, join(cwd, '.git', 'hooks', hook));
    for (const [name, value] of [
      ['core.fsmonitor', program],
      ['core.sshCommand', program],
      ['uploadpack.packObjectsHook', program],
      ['filter.x.clean', program],
    ])
      await fixture.git(['config', name ?? '', value ?? ''], { cwd });
    await fixture.git(['tag', 'v1'], { cwd });
    await fixture.git(['remote', 'add', 'origin', 'https://example.org/x.git'], { cwd });
    rmSync(trap, { force: true });
    const response = await publish(cwd, 'old');
    expect([response.status, await response.json()]).toMatchObject([200, { remote: 'homeport' }]);
    expect(readdirSync(fixture.folder)).not.toContain('trapped');
    expect((await json('GET', '/repos/ada/old/tags')).length).toBe(1);
    expect((await fixture.git(['remote', 'get-url', 'origin'], { cwd })).stdout.trim()).toBe(
      'https://example.org/x.git',
    );
  });

  it('rejects a partial clone without running programs that fetch objects', async () => {
    const trap = join(fixture.folder, 'lured');
    const program = join(fixture.folder, 'lure.sh');
    writeFileSync(program, `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 });
    const complete = await fixture.work('whole');
    const settings: Record<string, [string, string][]> = {
      extension: [
        ['core.repositoryFormatVersion', '1'],
        ['extensions.partialClone', 'evil'],
      ],
      promisor: [['remote.evil.promisor', 'true']],
    };
    for (const [name, lines] of Object.entries(settings)) {
      const cwd = await fixture.work(`partial-${name}`);
      const configEntries: [string, string][] = [
        ['remote.evil.url', complete],
        ['remote.evil.uploadpack', program],
        ...lines,
      ];
      const included = join(cwd, '.git', 'more');
      for (const [key, value] of configEntries) await fixture.git(['config', '--file', included, key, value], { cwd });
      // Git reads the format version only from the configuration file itself.
      if (name === 'extension') for (const [key, value] of lines) await fixture.git(['config', key, value], { cwd });
      await fixture.git(['config', 'include.path', 'more'], { cwd });
      const reply = await publish(cwd, `partial-${name}`);
      expect([name, reply.status, await reply.text()]).toEqual([name, 422, expect.stringContaining('partial clone')]);
      expect((await fixture.api('GET', `/repos/ada/partial-${name}`)).status).toBe(404);
    }
    expect(readdirSync(fixture.folder)).not.toContain('lured');
  });

  it('uses an existing branch as the default if none is checked out', async () => {
    const cwd = await fixture.work('detached');
    await fixture.run('sh', ['-c', 'git branch -m trunk && git branch zz && git checkout -q --detach'], { cwd });
    const response = await publish(cwd, 'detached');
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { files: 1, repository: { empty: false, defaultBranch: 'trunk' } },
    ]);
    const copy = join(fixture.folder, 'detached-copy');
    await fixture.git(['clone', '-q', `${fixture.signedUrl}/ada/detached.git`, copy]);
    expect((await fixture.git(['branch', '--show-current'], { cwd: copy })).stdout).toBe('trunk\n');
  });

  it('rejects folders that are not a project, and requires an administrator', async () => {
    expect((await publish(fixture.folder, 'x', bob)).status).toBe(403);
    const outside = mkdtempSync(join(tmpdir(), 'homeport-git-outside-'));
    try {
      await fixture.git(['init', '-q', outside]);
      mkdirSync(join(outside, 'within'));
      symlinkSync(fixture.host.dataDir, join(outside, 'link'));
      for (const folder of [
        '/',
        'relative',
        '/no/such/folder',
        '/etc/passwd',
        fixture.host.dataDir,
        join(fixture.host.dataDir, 'git'),
        join(outside, 'within'),
        join(outside, 'link'),
      ]) {
        const reply = await publish(folder, 'x');
        expect([folder, reply.status]).toEqual([folder, 422]);
      }
      expect((await fixture.api('GET', '/repos/ada/x')).status).toBe(404);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });
});
