import { afterAll, beforeAll, expect, it } from 'vitest';
import { api } from '../../support/api.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
beforeAll(async () => {
  fixture = await openGitFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');

it('rejects a change over the API that would replace another file or folder', async () => {
  await fixture.create('demo');
  const cwd = await fixture.work('demo', { 'README.md': '# demo\n', 'other.txt': 'other\n' });
  await fixture.run(
    'sh',
    [
      '-c',
      [
        'mkdir src && echo a > src/a.txt && echo b > src/b.txt',
        'echo echo > run.sh && chmod +x run.sh && ln -s README.md link',
        'git add . && git commit -qm more',
      ].join(' && '),
    ],
    { cwd },
  );
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main'], { cwd });
  const tree = async (): Promise<string> => {
    await fixture.git(['fetch', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main'], { cwd });
    return (await fixture.git(['ls-tree', '-r', 'FETCH_HEAD'], { cwd })).stdout;
  };
  const before = await tree();
  const findId = (path: string) => new RegExp(`([0-9a-f]{40})\\t${path}\n`).exec(before)?.[1];
  const contents = '/repos/ada/demo/contents';
  const [content, sha] = [base64('new\n'), findId('README.md')];
  for (const [method, path, body] of [
    ['POST', '/README.md/x', { content }],
    ['POST', '/README.md/x/y', { content }],
    ['POST', '', { files: [{ operation: 'upload', path: 'src', content }] }],
    ['PUT', '/src', { content, sha, from_path: 'README.md' }],
    ['PUT', '/other.txt', { content, sha, from_path: 'README.md' }],
    ['POST', '', { files: [{ operation: 'rename', path: 'other.txt', from_path: 'README.md', sha }] }],
    ['POST', '', { files: [{ operation: 'upload', path: 'other.txt', from_path: 'README.md', content }] }],
    [
      'POST',
      '',
      {
        files: [
          { operation: 'create', path: 'n', content },
          { operation: 'create', path: 'n/m', content },
        ],
      },
    ],
  ] as const) {
    expect([method, path, body, (await fixture.api(method, contents + path, body)).status]).toEqual([
      method,
      path,
      body,
      422,
    ]);
  }
  expect(await tree()).toBe(before);

  const result = await fixture.api('POST', contents, {
    files: [
      { operation: 'rename', path: 'bin/run.sh', from_path: 'run.sh', sha: findId('run.sh') },
      { operation: 'rename', path: 'bin/link', from_path: 'link', sha: findId('link') },
      // A file may become the folder that it moves into.
      { operation: 'rename', path: 'README.md/index.md', from_path: 'README.md', sha },
      { operation: 'upload', path: 'other.txt', content },
    ],
  });
  expect(result.status).toBe(201);
  const after = await tree();
  expect(after).toContain(`100755 blob ${findId('run.sh')}\tbin/run.sh\n`);
  expect(after).toContain(`120000 blob ${findId('link')}\tbin/link\n`);
  expect(after).toContain(`100644 blob ${sha}\tREADME.md/index.md\n`);
  expect(after.split('\n').map((line) => line.split('\t')[1])).toEqual([
    'README.md/index.md',
    'bin/link',
    'bin/run.sh',
    'other.txt',
    'src/a.txt',
    'src/b.txt',
    undefined,
  ]);
});

it('rejects a change over the API that would replace a submodule', async () => {
  await fixture.create('nested');
  const cwd = await fixture.work('nested', { 'README.md': '# nested\n' });
  const foreign = '0123456789abcdef0123456789abcdef01234567';
  await fixture.git(['update-index', '--add', '--cacheinfo', `160000,${foreign},parts/lib`], { cwd });
  await fixture.git(['commit', '-qm', 'a submodule'], { cwd });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/nested.git`, 'main'], { cwd });
  const { sha } = (await (await fixture.api('GET', '/repos/ada/nested/contents/README.md')).json()) as { sha: string };
  const contents = '/repos/ada/nested/contents';
  const content = base64('new\n');
  for (const [method, path, body] of [
    ['POST', '/parts/lib', { content }],
    ['PUT', '/parts/lib', { content }],
    ['POST', '/parts/lib/a/b.txt', { content }],
    ['PUT', '/parts/lib', { content, sha, from_path: 'README.md' }],
    ['POST', '', { files: [{ operation: 'upload', path: 'parts/lib', content }] }],
  ] as const) {
    const reply = await fixture.api(method, contents + path, body);
    expect([method, path, body, reply.status]).toEqual([method, path, body, 422]);
    expect(((await reply.json()) as { message: string }).message).toContain('submodule');
  }
  const appResponse = await fetch(`${fixture.host.url('control')}/api/git/repositories/ada/nested/content`, {
    method: 'POST',
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      branch: 'main',
      from: '',
      path: 'parts/lib/x',
      id: '',
      text: 'x',
      message: '',
      newBranch: '',
    }),
  });
  expect([appResponse.status, await appResponse.json()]).toMatchObject([
    422,
    { error: { fields: { path: expect.stringContaining('submodule') } } },
  ]);
  expect((await fixture.api('POST', `${contents}/parts/other.txt`, { content })).status).toBe(201);
  for (const name of [':!x', ':(glob)x', ':(attr:foo)z']) {
    expect((await fixture.api('POST', `${contents}/${encodeURIComponent(name)}`, { content })).status, name).toBe(201);
  }
  await fixture.git(['fetch', '-q', `${fixture.signedUrl}/ada/nested.git`, 'main'], { cwd });
  expect((await fixture.git(['ls-tree', '-r', 'FETCH_HEAD', 'parts/'], { cwd })).stdout).toContain(
    `160000 commit ${foreign}\tparts/lib\n`,
  );
});

it('offers a text for editing only if it can be saved without loss', async () => {
  await fixture.create('texts', { auto_init: true });
  const late = Buffer.concat([Buffer.alloc(9000, 'x'), Buffer.from([0])]);
  const files = {
    'plain.txt': Buffer.from('Käse\r\n'),
    'latin.txt': Buffer.from('Käse\n', 'latin1'),
    'late.bin': late,
  };
  const work = Object.entries(files).map(([path, bytes]) => ({ operation: 'create', path, content: base64(bytes) }));
  expect((await fixture.api('POST', '/repos/ada/texts/contents', { files: work })).status).toBe(201);
  const readContent = (path: string): Promise<any> =>
    api(fixture.host.url('control'), `/api/git/repositories/ada/texts/content?path=${path}`);
  expect(await readContent('plain.txt')).toMatchObject({ text: 'Käse\r\n', editable: true });
  expect(await readContent('latin.txt')).toMatchObject({ text: 'Käse\n', editable: false });
  expect(await readContent('late.bin')).toMatchObject({ editable: false });
});

it('accepts a change over the API at any path depth', async () => {
  await fixture.create('deep', { auto_init: true });
  const contents = '/repos/ada/deep/contents';
  const path = `${'a/'.repeat(2000)}b.txt`;
  const content = base64('deep\n');
  expect((await fixture.api('POST', contents, { files: [{ operation: 'create', path, content }] })).status).toBe(201);
  expect(await (await fixture.api('GET', `/repos/ada/deep/raw/${path}`)).text()).toBe('deep\n');
  // The path of folders already exists.
  const secondFile = await fixture.api('POST', contents, {
    files: [{ operation: 'create', path: path.replace('b.', 'c.'), content }],
  });
  expect(secondFile.status).toBe(201);
});
