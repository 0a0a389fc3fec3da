import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PushMessage, PushTopic } from '../../../services/contracts/push/api.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { push } from '../../../services/push/index.ts';
import { api } from '../../support/api.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';

interface MessagePage {
  readonly messages: readonly PushMessage[];
  readonly next: number | null;
}

describe('browsing messages', () => {
  let host: TestHost;
  let base: string;
  beforeAll(async () => {
    host = await openTestHost({ services: [push, inbox, control] });
    base = host.url('control');
  });
  afterAll(() => host[Symbol.asyncDispose]());

  const publish = (topic: string, body: string, headers = {}): Promise<Response> =>
    fetch(`${host.url('push')}/${topic}`, {
      method: 'POST',
      body,
      headers: { Authorization: adminAuthorization, ...headers },
    });
  const requestApi = (method: string, path: string): Promise<unknown> => api(base, path, { method });
  const listMessages = (topic: string, query: string): Promise<MessagePage> =>
    api<MessagePage>(base, `/api/push/topics/${topic}/messages?${query}`);

  it('finds by all words, by minimum priority and by tag', async () => {
    await publish('nas', 'Disk FULL on sda', { Priority: '5', Tags: 'warning,disk' });
    await publish('nas', 'Backup done', { Title: 'Full disk image', Priority: '2' });
    await publish('nas', 'Restarted', { Tags: 'disk' });
    const texts = async (query: string): Promise<readonly string[]> =>
      (await listMessages('nas', query)).messages.map(({ message }) => message);
    expect(await texts('words=full%20disk')).toEqual(['Backup done', 'Disk FULL on sda']);
    expect(await texts('words=full%20sda')).toEqual(['Disk FULL on sda']);
    expect(await texts('priority=3')).toEqual(['Restarted', 'Disk FULL on sda']);
    expect(await texts('tag=disk')).toEqual(['Restarted', 'Disk FULL on sda']);
    expect(await texts('tag=dis')).toEqual([]);
    const { topics } = await api<{ topics: PushTopic[] }>(base, '/api/push/topics');
    expect(topics.find(({ name }) => name === 'nas')?.line).toBe('Restarted');
  });

  it('paginates a search without gaps and duplicates', async () => {
    for (let count = 0; count < 9; count += 1) {
      await publish('mixed', `message ${String(count)}`, count % 2 === 0 ? { Tags: 'even' } : {});
    }
    const ids: string[] = [];
    let before = '';
    for (let pages = 0; pages < 9; pages += 1) {
      const { messages, next } = await listMessages('mixed', `tag=even&limit=2${before}`);
      ids.push(...messages.map(({ message }) => message));
      if (next === null) break;
      before = `&before=${String(next)}`;
    }
    expect(ids).toEqual([8, 6, 4, 2, 0].map((count) => `message ${String(count)}`));
  });

  it('returns actions of all kinds and addresses of files', async () => {
    await publish('door', 'Bell', {
      Actions: 'view, Look, https://cam.example/; http, Open, https://door.example/; broadcast, Light',
      Attach: 'https://cam.example/still.jpg',
      Icon: 'https://cam.example/icon.png',
    });
    const { messages } = await listMessages('door', '');
    expect(messages).toMatchObject([
      {
        icon: 'https://cam.example/icon.png',
        actions: [
          { kind: 'view', label: 'Look', url: 'https://cam.example/' },
          { kind: 'http', label: 'Open', url: 'https://door.example/', method: 'POST' },
          { kind: 'broadcast', label: 'Light', url: null },
        ],
        attachment: { name: 'still.jpg', url: 'https://cam.example/still.jpg', kept: false, size: null },
      },
    ]);
  });

  it('returns the latest of messages that update each other, with cleared and deleted ones as in clients', async () => {
    await publish('job/copy', '10 %');
    await publish('job/other', 'stays');
    await publish('job', 'plain');
    await publish('job/copy', '90 %');
    await publish('job/gone', 'to be deleted');
    const texts = async (query = ''): Promise<readonly string[]> =>
      (await listMessages('job', query)).messages.map(({ message, cleared }) =>
        cleared ? `${message} (cleared)` : message,
      );
    expect(await texts()).toEqual(['to be deleted', '90 %', 'plain', 'stays']);
    // The older state is not found when the newer one does not match.
    expect(await texts('words=10')).toEqual([]);
    const [, { sequence = '' } = {}] = (await listMessages('job', '')).messages;
    expect(sequence).toBe('copy');
    await requestApi('POST', '/api/push/topics/job/sequences/copy/clear');
    await requestApi('DELETE', '/api/push/topics/job/sequences/gone');
    expect(await texts()).toEqual(['90 % (cleared)', 'plain', 'stays']);
    // Pagination returns the same messages.
    const { messages: older } = await listMessages(
      'job',
      `before=${String((await listMessages('job', '')).messages[0]?.seq)}`,
    );
    expect(older.map(({ message }) => message)).toEqual(['plain', 'stays']);
    expect(await listMessages('job', 'limit=2')).toMatchObject({ cleared: ['copy'], deleted: ['gone'], messages: [] });
    await publish('job/copy', '100 %');
    expect(await texts()).toEqual(['100 %', 'plain', 'stays']);
    const polled = await (
      await fetch(`${host.url('push')}/job/json?poll=1`, { headers: { Authorization: adminAuthorization } })
    ).text();
    expect(polled).toContain('"event":"message_clear"');
    expect(polled).toContain('"event":"message_delete"');
  });

  it('serves attachments to accounts that may read them, images inline and other files as downloads', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const send = (name: string, body: BodyInit): Promise<Response> =>
      fetch(`${host.url('push')}/files`, {
        method: 'PUT',
        body,
        headers: { Authorization: adminAuthorization, Filename: name },
      });
    await send('dot.png', png);
    await send('page.html', '<script>alert(1)</script>');
    const [page, dot] = (await listMessages('files', '')).messages;
    expect(dot?.attachment).toMatchObject({ name: 'dot.png', type: 'image/png', size: png.length, kept: true });
    const get = (id = '', query = '', headers: Record<string, string> = { Authorization: adminAuthorization }) =>
      fetch(`${base}/api/push/topics/files/files/${id}${query}`, { headers });
    const picture = await get(dot?.id);
    expect(Buffer.from(await picture.arrayBuffer()).equals(png)).toBe(true);
    expect([picture.headers.get('content-type'), picture.headers.get('content-disposition')]).toEqual([
      'image/png',
      null,
    ]);
    expect((await get(dot?.id, '?save=true')).headers.get('content-disposition')).toContain('dot.png');
    const html = await get(page?.id);
    expect(html.headers.get('content-disposition')).toContain('attachment');
    expect(html.headers.get('content-security-policy')).toContain('sandbox');
    expect((await get(dot?.id, '', {})).status).toBe(401);
    expect((await get('aaaaaaaaaaaa')).status).toBe(404);
    const other = `${base}/api/push/topics/job/files/${String(dot?.id)}`;
    expect((await fetch(other, { headers: { Authorization: adminAuthorization } })).status).toBe(404);
  });

  it('counts published messages and subscribers', async () => {
    const before = await api<any>(base, '/api/push/statistics');
    await publish('counted', 'x');
    const after = await api<any>(base, '/api/push/statistics');
    expect(after.total).toBe(before.total + 1);
    expect(after).toMatchObject({ listening: 0 });
  });

  it('delays a message, and explains valid delays', async () => {
    const send = (delay: string): Promise<any> =>
      api(base, '/api/push/messages', {
        method: 'POST',
        body: JSON.stringify({ topic: 'later', message: 'x', delay }),
      });
    const before = Date.now();
    const { time } = await send('30m');
    expect(time).toBeGreaterThanOrEqual(Math.floor(before / 1000) * 1000 + 1_800_000);
    expect((await listMessages('later', '')).messages).toEqual([]);
    await expect(send('some day')).rejects.toThrow('Enter a time such as 30m');
  });

  it('redirects browsers to pages and serves other clients', async () => {
    const get = (path: string, accept: string): Promise<Response> =>
      fetch(`${host.url('push')}${path}`, { headers: { Accept: accept }, redirect: 'manual' });
    const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';
    expect((await get('/', browser)).headers.get('location')).toBe(`${base}/push`);
    expect((await get('/nas-error-backup', browser)).headers.get('location')).toBe(`${base}/push/nas-error-backup`);
    expect((await get('/nas?up=1', browser)).status).toBe(200);
    expect((await get('/health', browser)).status).toBe(200);
    expect((await get('/nas/json?poll=1', browser)).status).toBe(403);
    expect((await get('/login', browser)).status).toBe(404);
  });
});
