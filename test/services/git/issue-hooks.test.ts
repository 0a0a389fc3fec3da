import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { describeShape } from './describe-shape.ts';

const received: { readonly headers: IncomingHttpHeaders; readonly body: any }[] = [];
const receiver = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(parts).toString()) });
    response.end();
  });
});
let fixture: GitFixture;

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  fixture = await openGitFixture();
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  receiver.close();
  receiver.closeAllConnections();
});

const json = async (method: string, path: string, body?: unknown): Promise<any> => {
  const reply = await fixture.api(method, `/repos/ada/demo${path}`, body);
  const text = await reply.text();
  expect(reply.ok, text).toBe(true);
  return text === '' ? undefined : JSON.parse(text);
};
const golden = (name: string) =>
  (
    JSON.parse(readFileSync(new URL(`golden/webhook-${name}.json`, import.meta.url), 'utf8')) as {
      request: { headers: Record<string, string>; body: unknown };
    }
  ).request;

describe('webhooks of issues and pull requests', () => {
  it('sends the payloads of Gitea in order', async () => {
    await fixture.create('demo');
    const cwd = await fixture.work('demo');
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main'], { cwd });
    await fixture.run('sh', ['-c', 'git checkout -q -b dev && echo n > n.txt && git add . && git commit -qm n'], {
      cwd,
    });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'dev'], { cwd });
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    await json('POST', '/hooks', {
      type: 'gitea',
      active: true,
      config: { url, content_type: 'json' },
      events: ['issues', 'pull_request'],
    });
    const { id: label } = await json('POST', '/labels', { name: 'bug', color: '#ee0701' });
    await json('POST', '/issues', { title: 'First', body: 'text', labels: [label], assignees: ['ada'] });
    await json('POST', '/issues/1/comments', { body: 'hi @ada' });
    await json('PATCH', '/issues/1', { state: 'closed' });
    await json('DELETE', `/issues/1/labels/${label}`);
    await json('POST', '/issues/1/labels', { labels: [label] });
    await json('PATCH', '/issues/1', { assignees: [] });
    await json('PATCH', '/issues/1', { assignees: ['ada'] });
    await json('POST', '/pulls', { title: 'Dev', body: 'pb', head: 'dev', base: 'main' });
    await json('POST', '/pulls/2/reviews', {
      event: 'COMMENT',
      body: 'ok',
      comments: [{ path: 'n.txt', body: 'line', new_position: 1 }],
    });
    await json('POST', '/pulls/2/merge', { Do: 'merge' });
    await vi.waitFor(() => expect(received.length).toBe(10), { timeout: 30_000 });
    for (const [name, action, event, type] of [
      ['issues-opened', 'opened', 'issues', 'issues'],
      ['issue-comment-created', 'created', 'issue_comment', 'issue_comment'],
      ['issues-closed', 'closed', 'issues', 'issues'],
      ['issues-label-updated', 'label_updated', 'issues', 'issue_label'],
      ['issues-assigned', 'assigned', 'issues', 'issue_assign'],
      ['pull-request-opened', 'opened', 'pull_request', 'pull_request'],
      ['pull-request-comment-reviewed', 'reviewed', 'pull_request_comment', 'pull_request_review_comment'],
      ['pull-request-closed', 'closed', 'pull_request', 'pull_request'],
    ] as const) {
      const one = received.find(
        ({ headers, body }) =>
          headers['x-gitea-event'] === event && body.action === action && headers['x-gitea-event-type'] === type,
      );
      expect([name, one === undefined]).toEqual([name, false]);
      const request = golden(name);
      expect([request.headers['X-Gitea-Event'], request.headers['X-Gitea-Event-Type']]).toEqual([event, type]);
      expect([name, collectKeys(one?.body)]).toEqual([name, collectKeys(request.body)]);
    }
    expect(received.at(-1)?.body.pull_request).toMatchObject({ merged: true, state: 'closed' });
  });
});

/** Fields of a payload and of its subject. Current values of an issue differ from the recording. */
function collectKeys(body: any): unknown {
  const parts = ['issue', 'pull_request', 'comment', 'repository', 'sender', 'review'];
  return [
    Object.keys(body).toSorted(),
    ...parts.map((part) =>
      body[part] === null || body[part] === undefined
        ? null
        : Object.keys(describeShape(body[part]) as object).toSorted(),
    ),
  ];
}
