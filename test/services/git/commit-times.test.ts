import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let cwd = '';
/** Number of seconds beyond the range of a date, which git accepts. */
const hostile = '99999999999999';
const lastMs = 8.64e15;
beforeAll(async () => {
  fixture = await openGitFixture();
  await fixture.create('late');
  cwd = await fixture.work('late');
  await fixture.git(['checkout', '-q', '-b', 'odd'], { cwd });
  const parent = (await fixture.git(['rev-parse', 'main'], { cwd })).stdout.trim();
  const { stdout: blob } = await fixture.git(['hash-object', '-w', '--stdin'], { cwd, input: 'from far away\n' });
  const { stdout: tree } = await fixture.git(['mktree'], { cwd, input: `100644 blob ${blob.trim()}\tfar.txt\n` });
  const signature = (role: string, seconds: string): string => `${role} Ann <ann@example.org> ${seconds} +0130\n`;
  const commit = await make(
    'commit',
    `tree ${tree.trim()}\nparent ${parent}\n${signature('author', hostile)}${signature('committer', hostile)}\nfar\n`,
  );
  const tag = await make('tag', `object ${commit}\ntype commit\ntag far\n${signature('tagger', hostile)}\nfar\n`);
  await fixture.run(
    'sh',
    [
      '-c',
      [
        `git update-ref refs/heads/odd ${commit}`,
        `git update-ref refs/tags/far ${tag}`,
        'git checkout -q main',
        "git commit -q --allow-empty -m 'main goes on'",
      ].join('; '),
    ],
    { cwd },
  );
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/late.git`, 'main', 'odd', 'far'], { cwd });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const make = async (type: string, input: string): Promise<string> =>
  (await fixture.git(['hash-object', '-t', type, '-w', '--stdin', '--literally'], { cwd, input })).stdout.trim();
const json = async (path: string): Promise<any> => {
  const reply = await fixture.api('GET', `/repos/ada/late${path}`);
  expect([path, reply.status]).toEqual([path, 200]);
  return reply.json();
};
const readApp = async (path: string): Promise<any> => {
  const reply = await fetch(`${fixture.host.url('control')}/api/git/repositories/ada/late${path}`, {
    headers: { authorization: adminAuthorization },
  });
  expect([path, reply.status]).toEqual([path, 200]);
  return reply.json();
};

describe('a commit with a time beyond the range of a date', () => {
  const maxDate = '9999-12-31T23:59:59Z';

  it('is shown with the latest time that clients can parse', async () => {
    expect((await json('/commits?sha=odd&limit=1'))[0]).toMatchObject({
      created: maxDate,
      commit: { author: { date: maxDate } },
    });
    expect((await json('/branches/odd')).commit.timestamp).toBe(maxDate);
    expect((await json('/contents/far.txt?ref=odd')).last_committer_date).toBe(maxDate);
    const { id } = await json('/tags/far');
    expect(await json(`/git/tags/${id}`)).toMatchObject({ tagger: { name: 'Ann', date: maxDate } });
    const raw = await fixture.api('GET', '/repos/ada/late/raw/far.txt?ref=odd');
    expect([raw.status, raw.headers.get('last-modified')]).toEqual([200, 'Fri, 31 Dec 9999 23:59:59 GMT']);
  });

  it('is shown on the pages with the latest possible date', async () => {
    const { branches } = await readApp('/branches');
    expect(branches.find(({ name }: { name: string }) => name === 'odd').commit.time).toBe(lastMs);
    expect((await readApp('/commits?ref=odd')).commits[0].time).toBe(lastMs);
    expect((await readApp('/content?ref=odd')).commit.time).toBe(lastMs);
    expect((await readApp('/blame?ref=odd&path=far.txt')).parts[0].time).toBe(lastMs);
  });

  it('keeps its time in a rebase', async () => {
    const { number } = (await (
      await fixture.api('POST', '/repos/ada/late/pulls', { title: 'Far', head: 'odd', base: 'main' })
    ).json()) as { number: number };
    const merged = await fixture.api('POST', `/repos/ada/late/pulls/${number}/merge`, { Do: 'rebase' });
    expect([merged.status, await merged.text()]).toEqual([200, '']);
    await fixture.git(['fetch', '-q', `${fixture.signedUrl}/ada/late.git`, 'main'], { cwd });
    const { stdout } = await fixture.git(['log', '-1', '--format=%ad', '--date=raw', 'FETCH_HEAD'], { cwd });
    expect(stdout.trim()).toBe(`${hostile} +0130`);
  });

  it('is created by the API in any year', async () => {
    for (const [fileName, [date, stored]] of (
      [
        ['2150-06-01T12:00:00+02:00', '5693364000 +0200'],
        ['1930-01-01T00:00:00Z', '0 +0000'],
      ] as const
    ).entries()) {
      const response = await fixture.api('POST', `/repos/ada/late/contents/${fileName}.txt`, {
        content: 'eA==',
        message: 'x',
        dates: { author: date },
      });
      expect([date, response.status]).toEqual([date, 201]);
      await fixture.git(['fetch', '-q', `${fixture.signedUrl}/ada/late.git`, 'main'], { cwd });
      const { stdout } = await fixture.git(['log', '-1', '--format=%ad', '--date=raw', 'FETCH_HEAD'], { cwd });
      expect(stdout.trim()).toBe(stored);
    }
  });
});
