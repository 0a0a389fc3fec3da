import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
beforeAll(async () => {
  fixture = await openGitFixture();
  await fixture.create('demo', { auto_init: true, default_branch: 'main' });
  expect((await fixture.api('POST', '/repos/ada/demo/issues', { title: 'An issue' })).status).toBe(201);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const lfsType = 'application/vnd.git-lfs+json';
const content = Buffer.from('text').toString('base64');
const oddTexts = [
  '.,;:',
  '"\'\\',
  '\0',
  '\u0001\u007f',
  '<>',
  '\ud800',
  ' ',
  '...',
  '-',
  '\n',
  '../..',
  'a'.repeat(70_000),
];
const oddParts = [
  '%ff',
  '%c0%af',
  '%00',
  '%2e%2e',
  '%ed%a0%80',
  '__proto__',
  'constructor',
  '-',
  '%25',
  '%',
  '%2',
  '%0a',
];

describe('an address that is not valid text', () => {
  const paths = [
    (part: string) => `/${part}/demo.git/info/lfs/objects/batch`,
    (part: string) => `/ada/${part}.git/info/lfs/locks`,
    (part: string) => `/ada/demo.git/info/lfs/objects/${part}`,
    (part: string) => `/${part}/demo.git/info/refs?service=git-upload-pack`,
    (part: string) => `/ada/${part}/git-upload-pack`,
    (part: string) => `/ada/${part}`,
    (part: string) => `/ada/demo/raw/branch/${part}/README.md`,
    (part: string) => `/ada/demo/media/branch/main/${part}`,
    (part: string) => `/ada/demo/archive/${part}.zip`,
    (part: string) => `/ada/demo/src/branch/main/${part}`,
    (part: string) => `/${part}.keys`,
    (part: string) => `/attachments/${part}`,
    (part: string) => `/avatars/${part}`,
    (part: string) => `/ada/demo/releases/download/${part}/${part}`,
    (part: string) => `/api/v1/repos/ada/demo/contents/${part}`,
    (part: string) => `/api/v1/repos/ada/demo/contents/README.md?ref=${part}`,
    (part: string) => `/api/v1/repos/ada/demo/raw/${part}`,
    (part: string) => `/api/v1/repos/ada/demo/git/trees/${part}`,
    (part: string) => `/api/v1/repos/ada/demo/branches/${part}`,
    (part: string) => `/api/v1/repos/ada/demo/tags/${part}`,
    (part: string) => `/api/v1/repos/ada/demo/commits/${part}/status`,
    (part: string) => `/api/v1/repos/ada/demo/compare/${part}...main`,
    (part: string) => `/api/v1/repos/ada/demo/issues/${part}`,
    (part: string) => `/api/v1/repos/ada/demo/labels/${part}`,
    (part: string) => `/api/v1/repos/ada/demo/releases/tags/${part}`,
    (part: string) => `/api/v1/repos/ada/demo/archive/${part}`,
    (part: string) => `/api/v1/repos/search?q=${part}&limit=${part}&page=${part}&uid=${part}&sort=${part}`,
    (part: string) => `/api/v1/users/${part}`,
    (part: string) => `/api/v1/teams/${part}`,
    (part: string) => `/api/v1/repositories/${part}`,
  ];
  it.each(oddParts)('is answered without a server error: %s', async (part) => {
    for (const location of paths) {
      const path = location(part);
      // Two dots refer to the parent, which must not be deleted.
      const methods = ['GET', 'POST', 'PUT', 'PATCH', ...(part === '%2e%2e' ? [] : ['DELETE'])];
      for (const method of methods) {
        const reply = await fetch(fixture.url + path, {
          method,
          redirect: 'manual',
          headers: { authorization: adminAuthorization, accept: lfsType },
          ...(method === 'GET' ? {} : { body: '{}' }),
        });
        await reply.arrayBuffer();
        expect.soft([method, path, reply.status < 500]).toEqual([method, path, true]);
      }
    }
  });
});

describe('a malformed body', () => {
  const requests = (text: string): readonly (readonly [string, string, unknown])[] => [
    ['POST', `/repos/ada/demo/contents/${crypto.randomUUID()}`, { content, author: { name: text, email: text } }],
    ['POST', `/repos/ada/demo/contents/${crypto.randomUUID()}`, { content, committer: { name: text, email: text } }],
    ['POST', `/repos/ada/demo/contents/${crypto.randomUUID()}`, { content, message: text }],
    ['POST', `/repos/ada/demo/contents/${crypto.randomUUID()}`, { content, dates: { author: text, committer: text } }],
    ['POST', `/repos/ada/demo/contents/${crypto.randomUUID()}`, { content, branch: text }],
    ['POST', `/repos/ada/demo/contents/${crypto.randomUUID()}`, { content, new_branch: text }],
    ['POST', '/repos/ada/demo/contents', { files: [{ operation: 'create', path: text, content }] }],
    ['POST', '/repos/ada/demo/tags', { tag_name: text, message: text }],
    ['POST', '/repos/ada/demo/tags', { tag_name: crypto.randomUUID(), message: text }],
    ['POST', '/repos/ada/demo/tags', { tag_name: crypto.randomUUID(), target: text }],
    ['POST', '/repos/ada/demo/branches', { new_branch_name: text }],
    ['POST', '/repos/ada/demo/branches', { new_branch_name: crypto.randomUUID(), old_ref_name: text }],
    ['POST', '/repos/ada/demo/releases', { tag_name: text, name: text, body: text, target_commitish: text }],
    ['POST', '/repos/ada/demo/issues', { title: text, body: text }],
    ['POST', '/repos/ada/demo/issues/1/comments', { body: text }],
    ['POST', '/repos/ada/demo/labels', { name: text, color: text, description: text }],
    ['POST', '/repos/ada/demo/milestones', { title: text, due_on: text }],
    ['POST', '/repos/ada/demo/issues/1/deadline', { due_date: text }],
    ['POST', '/repos/ada/demo/hooks', { type: 'gitea', config: { url: text, content_type: 'json' } }],
    ['POST', '/repos/ada/demo/statuses/main', { state: 'success', context: text, description: text, target_url: text }],
    ['POST', '/repos/ada/demo/pulls', { head: text, base: text, title: text }],
    ['PATCH', '/repos/ada/demo', { description: text, website: text }],
    ['PATCH', '/repos/ada/demo', { default_branch: text }],
    ['PUT', '/repos/ada/demo/topics', { topics: [text] }],
    ['POST', '/repos/ada/demo/branch_protections', { rule_name: text }],
    ['POST', '/orgs', { username: text, description: text }],
    ['POST', '/user/repos', { name: text }],
    ['POST', '/user/keys', { title: text, key: text }],
    ['POST', '/users/ada/tokens', { name: text }],
    ['POST', '/repos/migrate', { clone_addr: text, repo_name: 'copy' }],
    ['PATCH', '/user/settings', { full_name: text, description: text }],
    ['POST', '/markdown', { Text: text }],
  ];
  it.each(oddTexts.map((text) => [JSON.stringify(text).slice(0, 30), text] as const))(
    'is answered without a server error: %s',
    async (_title, text) => {
      for (const [method, path, body] of requests(text)) {
        const reply = await fixture.api(method, path, body);
        const output = await reply.text();
        expect
          .soft([path, body, reply.status < 500, output.slice(0, 200)])
          .toEqual([path, body, true, output.slice(0, 200)]);
      }
    },
  );

  it('rejects an author name that consists of punctuation', async () => {
    const reply = await fixture.api('POST', '/repos/ada/demo/contents/author.txt', {
      content,
      author: { name: '.,;', email: 'a@example.org' },
    });
    expect(reply.status).toBe(422);
    expect(await reply.text()).toContain('disallowed characters');
  });

  it.each(['{', '[]', 'null', '"text"', '1', '\u0000', '{"__proto__":{}}', '{"title":'.repeat(5000)])(
    'is rejected if it is not an object: %s',
    async (body) => {
      for (const path of ['/repos/ada/demo/issues', '/user/repos', '/orgs', '/repos/ada/demo/hooks']) {
        const { status } = await fixture.api('POST', path, body);
        expect.soft([path, status]).toEqual([path, 422]);
      }
    },
  );
});

describe('a client that disconnects during its request', () => {
  it.each([
    ['/api/v1/user/repos', 'application/json'],
    ['/ada/demo.git/git-receive-pack', 'application/x-git-receive-pack-request'],
    ['/ada/demo.git/git-upload-pack', 'application/x-git-upload-pack-request'],
    ['/ada/demo.git/info/lfs/objects/batch', lfsType],
    ['/api/v1/repos/ada/demo/issues/1/assets', 'multipart/form-data; boundary=x'],
  ])('is not logged as an error: %s', async (path, type) => {
    const before = fixture.host.log.length;
    const { hostname, port, host } = new URL(fixture.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: ${adminAuthorization}`,
      `Content-Type: ${type}`,
      `Accept: ${lfsType}`,
      'Content-Length: 1000',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n{"name":`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.destroy();
    // A following request shows that the first one was handled.
    expect((await fetch(`${fixture.url}/api/healthz`)).ok).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const lines = fixture.host.log
      .slice(before)
      .filter((line) => /\b(ERROR|WARN)\b/.test(line) && !line.includes('event loop'));
    expect(lines).toEqual([]);
  });
});
