import { afterAll, beforeAll, expect, it } from 'vitest';
import type { GitDiff } from '../../../services/contracts/git/api.ts';
import { api } from '../../support/api.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
beforeAll(async () => {
  fixture = await openGitFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

it('lists the languages of readable repositories with commits', async () => {
  await fixture.create('secret', { private: true });
  await fixture.create('void');
  const cwd = await fixture.work('secret', { 'a.ts': 'const a = 1;\n'.repeat(20), 'b.py': 'b = 1\n' });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/secret.git`, 'main'], { cwd });
  const url = fixture.host.url('control');
  const list = await api<{ repositories: { id: number; name: string }[] }>(url, '/api/git/repositories');
  const ids = list.repositories.map(({ id }) => id);
  const secret = list.repositories.find(({ name }) => name === 'secret')?.id;
  const path = `/api/git/languages?ids=${[...ids, 999_999].join(',')}`;
  const { repositories } = await api<{ repositories: { id: number; languages: { name: string }[] }[] }>(url, path);
  expect(repositories.map(({ id, languages }) => [id, languages.map(({ name }) => name)])).toContainEqual([
    secret,
    ['TypeScript', 'Python'],
  ]);
  const bob = await fixture.account('bob');
  const hidden = await fetch(`${url}${path}`, { headers: { authorization: bob } });
  expect(JSON.stringify(await hidden.json())).not.toContain('TypeScript');
});

it('leaves out changes of whitespace on request, in commits and pull requests', async () => {
  await fixture.create('demo');
  const lines = Array.from({ length: 12 }, (_, index) => `line ${String(index)}`).join('\n');
  const cwd = await fixture.work('demo', { 'a.txt': 'one\n\ttwo\n', 'b.txt': 'b\n', 'moved.txt': `${lines}\n` });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main'], { cwd });
  const change = [
    "printf 'one\\n    two\\n' > a.txt",
    "printf 'b  \\nnew\\n' > b.txt",
    "git mv moved.txt z.txt && printf '%s' \"$(sed 's/^/  /' z.txt)\" > z.txt",
    "printf 'added\\n' > c.txt",
    "git checkout -qb indent && git add -A && git commit -qm 'indent lines'",
  ];
  await fixture.run('sh', ['-c', change.join(' && ')], { cwd });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'indent'], { cwd });
  const id = (await fixture.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
  const pull = await fixture.api('POST', '/repos/ada/demo/pulls', { title: 'Indent', head: 'indent', base: 'main' });
  expect(pull.status).toBe(201);
  const url = fixture.host.url('control');
  for (const path of [`commits/${id}`, 'pulls/1/changes']) {
    const read = (query: string) => api<GitDiff>(url, `/api/git/repositories/ada/demo/${path}${query}`);
    const all = await read('');
    expect(all.files.map((file) => file.path).toSorted()).toContain('a.txt');
    const { files, total } = await read('?whitespace=hide');
    const byPath = Object.fromEntries(files.map((file) => [file.path, file]));
    expect(byPath['a.txt']).toBeUndefined();
    expect(total).toBe(files.length);
    expect(byPath['b.txt']).toMatchObject({ additions: 1, deletions: 0, patch: expect.stringContaining('+new') });
    expect(byPath['b.txt']?.patch).not.toContain('-b');
    expect(byPath['c.txt']).toMatchObject({ status: 'added', patch: expect.stringContaining('+added') });
  }
});
