import * as problems from '#messages/push-problems';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PushMessage, PushTopic } from '../../../services/contracts/push/api.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { push } from '../../../services/push/index.ts';
import { api } from '../../support/api.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';

describe('app API of push', () => {
  let host: TestHost;
  let base: string;
  let reader: { Authorization: string };
  beforeAll(async () => {
    host = await openTestHost({ services: [push, inbox, control] });
    base = host.url('control');
    const grants = [{ service: 'push', resource: 'open-*', permission: 'read' }];
    await post('/api/accounts', { name: 'grace', password: 'harbour light', grants });
    reader = { Authorization: `Basic ${Buffer.from('grace:harbour light').toString('base64')}` };
  });
  afterAll(() => host[Symbol.asyncDispose]());

  const post = (path: string, body: unknown, headers = {}): Promise<any> =>
    api(base, path, { method: 'POST', body: JSON.stringify(body), headers });
  const publish = (topic: string, body: string, headers = {}): Promise<Response> =>
    fetch(`${host.url('push')}/${topic}`, {
      method: 'POST',
      body,
      headers: { Authorization: adminAuthorization, ...headers },
    });

  it('lists the topics that the account may read, most recently used first', async () => {
    await publish('closed-info-backup', 'one');
    await publish('open-info-backup', 'two', { Title: 'Two', Priority: '5', Tags: 'a,b' });
    const { topics } = await api<{ topics: PushTopic[] }>(base, '/api/push/topics');
    expect(topics.map(({ name, messages }) => [name, messages])).toEqual([
      ['open-info-backup', 1],
      ['closed-info-backup', 1],
    ]);
    const readerTopics = await api<{ topics: PushTopic[] }>(base, '/api/push/topics', { headers: reader });
    expect(readerTopics.topics.map(({ name, mayPublish }) => [name, mayPublish])).toEqual([
      ['open-info-backup', false],
    ]);
    const page = await api<any>(base, '/api/push/topics/open-info-backup/messages', { headers: reader });
    expect(page.messages).toMatchObject([{ title: 'Two', message: 'two', priority: 5, tags: ['a', 'b'] }]);
    expect(page).toMatchObject({ mayPublish: false, anyone: { reads: false, publishes: false } });
    const refused = await fetch(`${base}/api/push/topics/closed-info-backup/messages`, { headers: reader });
    expect(refused.status).toBe(403);
  });

  it('paginates a long topic without gaps', async () => {
    for (let count = 0; count < 7; count += 1) await publish('long', `message ${String(count)}`);
    const seen: string[] = [];
    let before = '';
    for (;;) {
      const path = `/api/push/topics/long/messages?limit=3${before}`;
      const { messages, next } = await api<{ messages: PushMessage[]; next: number | null }>(base, path);
      seen.push(...messages.map(({ message }) => message));
      if (next === null) break;
      before = `&before=${String(next)}`;
    }
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((count) => `message ${String(count)}`));
  });

  it('publishes to subscribers and the inbox, and names the invalid field', async () => {
    const message = await post('/api/push/messages', { topic: 'hall', message: ' Hello ', title: 'Hi', priority: 4 });
    expect(message).toMatchObject({ topic: 'hall', title: 'Hi', message: 'Hello', priority: 4 });
    const polled = await fetch(`${host.url('push')}/hall/json?poll=1`, {
      headers: { Authorization: adminAuthorization },
    });
    expect(JSON.parse((await polled.text()).trim())).toMatchObject({ id: message.id, message: 'Hello' });
    await expect
      .poll(async () => (await api<any>(base, '/api/inbox')).items.filter((item: any) => item.topic === 'hall').length)
      .toBe(1);
    const refuse = (body: unknown, headers = {}): Promise<string> =>
      post('/api/push/messages', body, headers).then(String, (error: Error) => error.message);
    expect(await refuse({ topic: 'no spaces', message: 'x' })).toContain('422');
    expect(await refuse({ topic: 'login', message: 'x' })).toContain('reserved');
    expect(await refuse({ topic: 'hall', message: '   ' })).toContain(problems.messageMissing());
    expect(await refuse({ topic: 'hall', message: 'é'.repeat(2048) })).toContain('too long');
    expect(await refuse({ topic: 'hall', message: 'x', click: 'javascript:alert(1)' })).toContain('422');
    expect(await refuse({ topic: 'open-x', message: 'x' }, reader)).toContain('403');
  });
});
