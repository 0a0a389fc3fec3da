import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let cwd = '';
let remote = '';
/** Commits by name: each contains a file with the name as its content. */
const commits = new Map<string, string>();
beforeAll(async () => {
  fixture = await openGitFixture();
  await fixture.create('names');
  cwd = await fixture.work('names', { 'which.txt': 'main\n' });
  remote = `${fixture.signedUrl}/ada/names.git`;
  await fixture.git(['push', '-q', remote, 'main'], { cwd });
  await keep('main');
  for (const target of ['dash', 'head', 'inner', 'tag', 'hex', 'seen', 'deep', 'outer']) {
    await fixture.run(
      'sh',
      ['-c', `git checkout -q -B work main; echo ${target} > which.txt; git commit -qam ${target}`],
      {
        cwd,
      },
    );
    await keep(target);
  }
  await push(
    ['dash', 'refs/heads/-dash'],
    ['head', 'refs/heads/HEAD'],
    ['inner', 'refs/heads/refs/heads/main'],
    ['tag', 'refs/tags/main'],
  );
  await push(
    ['hex', `refs/heads/${commits.get('main')}`],
    ['seen', 'refs/heads/a\u200bb'],
    ['deep', 'refs/heads/refs/heads/only'],
    ['outer', 'refs/heads/beside/one'],
  );
});
afterAll(() => fixture[Symbol.asyncDispose]());

const keep = async (name: string): Promise<void> => {
  commits.set(name, (await fixture.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim());
};
const push = (...all: readonly (readonly [string, string])[]) =>
  fixture.git(['push', '-q', remote, ...all.map(([target, ref]) => `${commits.get(target)}:${ref}`)], { cwd });
const apiPath = '/repos/ada/names';
const json = async (path: string): Promise<any> => (await fixture.api('GET', apiPath + path)).json();
const readApp = async (path: string): Promise<any> => {
  const reply = await fetch(`${fixture.host.url('control')}/api/git/repositories/ada/names${path}`, {
    headers: { authorization: adminAuthorization },
  });
  return reply.json();
};
const in64 = (text: string): string => Buffer.from(text).toString('base64');

/** Requested name and the name that it resolves to. */
const exact = (): (readonly [string, string])[] => [
  ['main', 'main'],
  ['-dash', 'dash'],
  ['HEAD', 'head'],
  ['refs/heads/main', 'main'],
  ['refs/heads/refs/heads/main', 'inner'],
  ['refs/tags/main', 'tag'],
  ['refs/heads/refs/heads/only', 'deep'],
  // A full ID refers to a commit, so the branch with this name needs the prefix `refs/`.
  [commits.get('main') ?? '', 'main'],
  [`refs/heads/${commits.get('main')}`, 'hex'],
  [(commits.get('dash') ?? '').slice(0, 9), 'dash'],
  ['a\u200bb', 'seen'],
];

describe('ambiguous names', () => {
  it('resolves the exact name in all routes that read', async () => {
    for (const [name, target] of exact()) {
      const encoded = encodeURIComponent(name);
      const id = commits.get(target);
      const results = await Promise.all([
        json(`/contents/which.txt?ref=${encoded}`).then(({ content }) => Buffer.from(content, 'base64').toString()),
        fixture.api('GET', `${apiPath}/raw/which.txt?ref=${encoded}`).then((reply) => reply.text()),
        json(`/commits?sha=${encoded}&limit=1`).then(([{ sha }]) => sha),
        json(`/git/commits/${encoded}`).then(({ sha }) => sha),
        json(`/compare/main...${name.split('/').map(encodeURIComponent).join('/')}`).then(
          ({ commits: [first] }) => first?.sha,
        ),
        readApp(`/content?ref=${encoded}&path=which.txt`).then(({ text }) => text),
        readApp(`/commits?ref=${encoded}`).then(({ commits: [{ id: newest }] }) => newest),
      ]);
      const after = target === 'main' ? undefined : id;
      expect([name, ...results]).toEqual([name, `${target}\n`, `${target}\n`, id, id, after, `${target}\n`, id]);
    }
  });

  it('resolves branches where a branch is requested, and to tags where a tag is', async () => {
    const branches = [
      ['main', 'main'],
      ['-dash', 'dash'],
      ['HEAD', 'head'],
      ['refs/heads/main', 'inner'],
      ['refs/heads/only', 'deep'],
      [commits.get('main') ?? '', 'hex'],
    ] as const;
    const path = (name: string): string => name.split('/').map(encodeURIComponent).join('/');
    const raw = async (kind: string, name: string): Promise<string> =>
      (await fetch(`${fixture.url}/ada/names/raw/${kind}/${path(name)}/which.txt`)).text();
    for (const [name, target] of branches) {
      expect([name, (await json(`/branches/${path(name)}`)).commit?.id]).toEqual([name, commits.get(target)]);
      expect([name, await raw('branch', name)]).toEqual([name, `${target}\n`]);
    }
    expect((await json('/tags/main')).commit.sha).toBe(commits.get('tag'));
    expect([await raw('tag', 'main'), await raw('commit', commits.get('hex') ?? '')]).toEqual(['tag\n', 'hex\n']);
    for (const none of ['branch/only', 'branch/beside', 'tag/only', 'commit/main']) {
      expect([none, (await fetch(`${fixture.url}/ada/names/raw/${none}/which.txt`)).status]).toEqual([none, 404]);
    }
  });

  it("does not find names that only git's guesses would find", async () => {
    // Git reads the suffix of `git describe` as an ID and also tries `refs/heads/only` below `refs/heads/`.
    const described = `v1-2-g${commits.get('dash')?.slice(0, 7)}`;
    for (const name of ['only', 'beside', described]) {
      expect([name, (await fixture.api('GET', `${apiPath}/contents?ref=${name}`)).status]).toEqual([name, 404]);
      expect([name, (await fixture.api('GET', `${apiPath}/branches/${name}`)).status]).toEqual([name, 404]);
    }
    expect((await fixture.api('PATCH', apiPath, { default_branch: 'beside' })).status).toBe(422);
    const change = { content: in64('x'), message: 'x', branch: 'only' };
    expect((await fixture.api('POST', `${apiPath}/contents/x.txt`, change)).status).toBe(404);
    expect((await fixture.api('POST', `${apiPath}/pulls`, { title: 'x', head: 'only', base: 'main' })).status).toBe(
      404,
    );
    // These names are therefore available.
    for (const name of ['only', described]) {
      expect(
        (await fixture.api('POST', `${apiPath}/branches`, { new_branch_name: name, old_ref_name: '-dash' })).status,
      ).toBe(201);
    }
    const put = await fixture.api('POST', `${apiPath}/contents/y.txt`, { ...change, branch: '-dash' });
    expect(put.status).toBe(201);
    expect((await json('/branches/-dash')).commit.id).toBe((await put.json()).commit.sha);
  });

  it('are deleted by their exact name', async () => {
    for (const name of ['refs/heads/only', '-dash', 'HEAD', commits.get('main') ?? '']) {
      expect([name, (await fixture.api('DELETE', `${apiPath}/branches/${name}`)).status]).toEqual([name, 204]);
    }
    const names = (await json('/branches')).map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['main', 'refs/heads/main', 'only']));
    expect(names).not.toEqual(expect.arrayContaining(['-dash']));
    // Without a branch of this name, the tag is resolved, as a clone would do.
    expect((await json('/contents/which.txt?ref=HEAD')).content).toBe(in64('main\n'));
  });

  it('resolves tags of tags to the commit', async () => {
    const commit = commits.get('outer') ?? '';
    await fixture.run(
      'sh',
      ['-c', `git tag -a -m one one ${commit} && git tag -a -m two two one && git push -q '${remote}' two`],
      { cwd },
    );
    expect(await json('/tags/two')).toMatchObject({ message: 'two\n', commit: { sha: commit } });
    expect((await json('/git/commits/two')).sha).toBe(commit);
  });
});

describe('confusable names', () => {
  // 40 digits look like a commit and a hyphen like an option; the others are invisible or invalid text.
  const refused = [
    '0123456789abcdef0123456789abcdef01234567',
    '-option',
    'a\u200bb',
    'a\u202eb',
    'a\u00adb',
    'lone\ud800',
    'ma\ufeffin',
    'x'.repeat(251),
  ];
  const readError = async (reply: Response): Promise<[number, string]> => [
    reply.status,
    ((await reply.json()) as { message: string }).message,
  ];

  it('are rejected by all routes that create names', async () => {
    for (const name of [...refused, 'HEAD']) {
      const branch = await fixture.api('POST', `${apiPath}/branches`, { new_branch_name: name, old_ref_name: 'main' });
      expect([name, ...(await readError(branch))]).toEqual([name, 422, '[NewBranchName]: GitRefName']);
      const renamed = await fixture.api('PATCH', `${apiPath}/branches/refs/heads/main`, { name });
      expect([name, ...(await readError(renamed))]).toEqual([name, 422, '[Name]: GitRefName']);
      const file = await fixture.api('POST', `${apiPath}/contents/z.txt`, {
        content: in64('z'),
        branch: 'main',
        new_branch: name,
      });
      expect([name, ...(await readError(file))]).toEqual([name, 422, '[Branch]: GitRefName']);
      const response = await fixture.api('POST', '/user/repos', {
        name: 'other',
        auto_init: true,
        default_branch: name,
      });
      expect([name, ...(await readError(response))]).toEqual([name, 422, '[DefaultBranch]: GitRefName']);
    }
    for (const name of refused) {
      const tag = await fixture.api('POST', `${apiPath}/tags`, { tag_name: name, target: 'main' });
      expect([name, ...(await readError(tag))]).toEqual([name, 422, '[TagName]: GitRefName']);
      const release = await fixture.api('POST', `${apiPath}/releases`, { tag_name: name, target_commitish: 'main' });
      expect([name, release.status]).toEqual([name, 422]);
    }
    const page = await fetch(`${fixture.host.url('control')}/api/git/repositories/ada/names/branches`, {
      method: 'POST',
      headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name: refused[2], from: 'refs/heads/main' }),
    });
    expect(page.status).toBe(422);
    const all = (await fixture.git(['ls-remote', remote], { cwd })).stdout;
    expect(all).not.toContain('refs/heads/-option');
    expect(all).not.toContain('refs/tags/-option');
  });

  it('are accepted in pushes', async () => {
    const names = [
      'refs/heads/0123456789abcdef0123456789abcdef01234567',
      'refs/heads/-option',
      'refs/tags/soft\u00adhyphen',
      `refs/heads/${'long/'.repeat(60)}er`,
      'refs/heads/next\u0085line',
    ];
    await push(...names.map((ref) => ['seen', ref] as const));
    const remoteRefs = (await fixture.git(['ls-remote', remote], { cwd })).stdout
      .split('\n')
      .map((line) => line.split('\t')[1]);
    expect(remoteRefs).toEqual(expect.arrayContaining(names));
    // Existing unusual names can be used for releases, changes and deletions.
    expect((await fixture.api('POST', `${apiPath}/releases`, { tag_name: 'soft\u00adhyphen' })).status).toBe(201);
    const file = await fixture.api('POST', `${apiPath}/contents/z.txt`, { content: in64('z'), branch: '-option' });
    expect(file.status).toBe(201);
    expect((await fixture.api('DELETE', `${apiPath}/branches/-option`)).status).toBe(204);
  });
});
