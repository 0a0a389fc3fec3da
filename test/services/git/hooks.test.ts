import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { describeShape } from './describe-shape.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: any;
}

const secret = 's3cr3t';
const clock = createFakeClock(Date.now());
const received: Received[] = [];
/** Next statuses of the receiver; 200 if empty. */
const answers: number[] = [];
const receiver = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const text = Buffer.concat(parts).toString();
    const isForm = request.headers['content-type']?.startsWith('application/x-www-form') === true;
    const json = isForm ? (new URLSearchParams(text).get('payload') ?? '') : text;
    received.push({ headers: request.headers, text: json, body: JSON.parse(json) });
    response.writeHead(answers.shift() ?? 200).end('thanks');
  });
});
let fixture: GitFixture;
let target = '';

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  fixture = await openGitFixture({ clock });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  receiver.close();
  receiver.closeAllConnections();
});

const config = () => ({ url: target, content_type: 'json', secret });
const hook = async (repository: string, overrides: Record<string, unknown> = {}, authorization?: string) => {
  const body = { type: 'gitea', active: true, config: config(), ...overrides };
  const reply = await fixture.api('POST', `/repos/${repository}/hooks`, body, authorization);
  expect(reply.status).toBe(201);
  return (await reply.json()) as { id: number; events: string[] };
};
const arrived = (count: number) => vi.waitFor(() => expect(received.length).toBe(count), { timeout: 20_000 });
const golden = (name: string) =>
  JSON.parse(readFileSync(new URL(`golden/webhook-${name}.json`, import.meta.url), 'utf8')) as {
    request: { headers: Record<string, string>; body: unknown };
  };

describe('webhooks', () => {
  it('sends the payloads of Gitea for pushes, creations and deletions', async () => {
    await fixture.create('demo');
    await hook('ada/demo', { events: ['push', 'create', 'delete'] });
    const cwd = await fixture.work('demo');
    const remote = `${fixture.signedUrl}/ada/demo.git`;
    await fixture.git(['push', '-q', remote, 'main'], { cwd });
    await arrived(2);
    await fixture.git(['tag', '-a', 'v1', '-m', 'one'], { cwd });
    await fixture.git(['push', '-q', remote, 'v1'], { cwd });
    await arrived(4);
    await fixture.git(['push', '-q', remote, 'main:dev'], { cwd });
    await arrived(6);
    await fixture.git(['push', '-q', remote, ':dev'], { cwd });
    await arrived(7);
    const find = (event: string, ref: string) =>
      received.find(({ headers, body }) => headers['x-gitea-event'] === event && body.ref === ref);
    for (const [name, event, ref] of [
      ['push', 'push', 'refs/heads/main'],
      ['create-branch', 'create', 'main'],
      ['create-tag', 'create', 'v1'],
      ['push-tag', 'push', 'refs/tags/v1'],
      ['delete-branch', 'delete', 'dev'],
    ] as const) {
      const one = find(event, ref);
      const { request } = golden(name);
      expect([name, describeShape(one?.body)]).toEqual([name, describeShape(request.body)]);
      const names = Object.keys(request.headers).map((entry) => entry.toLowerCase());
      expect(Object.keys(one?.headers ?? {})).toEqual(expect.arrayContaining(names));
      for (const family of ['gitea', 'gogs', 'github']) expect(one?.headers[`x-${family}-event-type`]).toBe(event);
      const hmac = (algorithm: string) =>
        createHmac(algorithm, secret)
          .update(one?.text ?? '')
          .digest('hex');
      expect(one?.headers).toMatchObject({
        'x-gitea-signature': hmac('sha256'),
        'x-gogs-signature': hmac('sha256'),
        'x-hub-signature-256': `sha256=${hmac('sha256')}`,
        'x-hub-signature': `sha1=${hmac('sha1')}`,
      });
    }
    const push = find('push', 'refs/heads/main')?.body;
    expect(push).toMatchObject({
      before: '0'.repeat(40),
      total_commits: 1,
      pusher: { login: 'ada' },
      head_commit: { added: ['README.md'] },
    });
    // A new branch of existing commits has no new commits.
    expect(find('push', 'refs/heads/dev')?.body).toMatchObject({ total_commits: 0, commits: [] });
  });

  it('sends the payload of Gitea for a release', async () => {
    await fixture.create('released', { auto_init: true });
    await hook('ada/released', { events: ['release'] });
    const before = received.length;
    const createdItem = await fixture.api('POST', '/repos/ada/released/releases', {
      tag_name: 'v1',
      name: 'One',
      body: 'notes',
    });
    expect(createdItem.status).toBe(201);
    await arrived(before + 1);
    const one = received.at(-1);
    expect(one?.headers['x-gitea-event']).toBe('release');
    const { action, release, repository, sender } = one?.body ?? {};
    expect([action, release.tag_name, sender.login]).toEqual(['published', 'v1', 'ada']);
    const recorded = golden('release-published').request.body as Record<string, object>;
    expect(Object.keys(one?.body).toSorted()).toEqual(Object.keys(recorded).toSorted());
    expect(Object.keys(release).toSorted()).toEqual(Object.keys(recorded['release'] ?? {}).toSorted());
    expect(Object.keys(repository).toSorted()).toEqual(Object.keys(recorded['repository'] ?? {}).toSorted());
  });

  it('retries failed deliveries, stores a history and resends a delivery on request', async () => {
    await fixture.create('again');
    const createdItem = await hook('ada/again', {
      config: { ...config(), content_type: 'form' },
      branch_filter: 'rel/*',
    });
    const cwd = await fixture.work('again');
    const before = received.length;
    // This branch does not match the branch filter of the hook.
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/again.git`, 'main'], { cwd });
    answers.push(500);
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/again.git`, 'main:rel/1'], { cwd });
    await arrived(before + 1);
    const failed = received.at(-1);
    expect(failed?.body).toMatchObject({ ref: 'refs/heads/rel/1' });
    expect(failed?.headers['x-gitea-signature']).toBe(
      createHmac('sha256', secret)
        .update(failed?.text ?? '')
        .digest('hex'),
    );
    await vi.waitFor(
      () => {
        clock.advance(15_000);
        expect(received.length).toBe(before + 2);
      },
      { timeout: 20_000 },
    );
    expect(received.at(-1)?.headers['x-gitea-delivery']).toBe(failed?.headers['x-gitea-delivery']);
    expect(received.at(-1)?.text).toBe(failed?.text);
    expect((await fixture.api('POST', `/repos/ada/again/hooks/${createdItem.id}/tests`)).status).toBe(204);
    await arrived(before + 3);
    expect(received.at(-1)?.body).toMatchObject({ ref: 'refs/heads/main' });
  });

  it('does not send webhooks of accounts to private addresses, except those of administrators', async () => {
    const before = received.length;
    const bob = await fixture.account('bob');
    expect((await fixture.api('POST', '/user/repos', { name: 'own', auto_init: true }, bob)).status).toBe(201);
    const createdItem = await hook('bob/own', {}, bob);
    expect((await fixture.api('POST', `/repos/bob/own/hooks/${createdItem.id}/tests`, undefined, bob)).status).toBe(
      204,
    );
    const other = await hook('bob/own', { config: { ...config(), url: `${target}?of=ada` } });
    expect((await fixture.api('POST', `/repos/bob/own/hooks/${other.id}/tests`)).status).toBe(204);
    await arrived(before + 1);
    expect(received.at(-1)?.headers['host']).toBe(new URL(target).host);
    expect(
      (await fixture.api('PATCH', `/repos/bob/own/hooks/${other.id}`, { config: { url: target } }, bob)).status,
    ).toBe(200);
    expect((await fixture.api('POST', `/repos/bob/own/hooks/${other.id}/tests`, undefined, bob)).status).toBe(204);
    await vi.waitFor(
      () => expect(fixture.host.log.filter((line) => line.includes('git.deliver-hook')).length).toBeGreaterThan(1),
      { timeout: 20_000 },
    );
    expect(received.length).toBe(before + 1);
  });

  it('are created, listed, changed and deleted without exposing their secret', async () => {
    await fixture.create('crud');
    const createdItem = await hook('ada/crud', {
      events: ['push', 'pull_request', 'issues', 'issue_comment', 'create', 'delete', 'release'],
      authorization_header: 'Bearer x',
    });
    expect(createdItem.events).toEqual(
      expect.arrayContaining(['issue_label', 'pull_request_sync', 'pull_request_review']),
    );
    const path = `/repos/ada/crud/hooks/${createdItem.id}`;
    const changed = await fixture.api('PATCH', path, { active: false, config: { secret: 'other' } });
    expect(changed.status).toBe(200);
    const text = await changed.text();
    expect(text).not.toContain(secret);
    // Gitea drops the events here, which is an error.
    expect(JSON.parse(text)).toMatchObject({ active: false, events: createdItem.events, config: { url: target } });
    expect((await fixture.api('POST', '/repos/ada/crud/hooks', { type: 'zz', config: config() })).status).toBe(422);
    expect(
      (
        await fixture.api('POST', '/repos/ada/crud/hooks', {
          type: 'gitea',
          config: { ...config(), url: 'file:///etc/passwd' },
        })
      ).status,
    ).toBe(422);
    expect((await fixture.api('DELETE', path)).status).toBe(204);
    expect((await fixture.api('GET', path)).status).toBe(404);
    expect((await fixture.api('GET', '/repos/ada/crud/hooks', undefined, await fixture.account('eve'))).status).toBe(
      403,
    );
    const reply = await fixture.api('POST', '/user/hooks', { type: 'gitea', active: true, config: config() });
    expect(reply.status).toBe(201);
    const { id } = (await reply.json()) as { id: number };
    const before = received.length;
    const cwd = await fixture.work('crud');
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/crud.git`, 'main'], { cwd });
    await arrived(before + 1);
    expect(received.at(-1)?.body).toMatchObject({ repository: { name: 'crud' } });
    expect((await fixture.api('DELETE', `/user/hooks/${id}`)).status).toBe(204);
  });
});
