import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TopicStatistics } from '../../../services/contracts/push/api.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { push } from '../../../services/push/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';

interface Reply {
  readonly days: readonly string[];
  readonly topics: readonly TopicStatistics[];
}

describe('topic counts by day', () => {
  const services = [push, inbox, control];
  const headers = { Authorization: adminAuthorization };
  const publish = async (host: TestHost, topic: string): Promise<void> => {
    const response = await fetch(`${host.url('push')}/${topic}`, { method: 'POST', body: 'x', headers });
    expect(response.status).toBe(200);
  };
  const readStatistics = (host: TestHost, query = '', requestHeaders = {}): Promise<Reply> =>
    api<Reply>(host.url('control'), `/api/push/statistics/topics${query}`, { headers: requestHeaders });
  const published = ({ topics }: Reply): Record<string, readonly number[]> =>
    Object.fromEntries(topics.map((topic) => [topic.name, topic.published]));

  it('continues across days and restarts, busiest topic first', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'counts-'));
    using _folder = { [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }) };
    const clock = createFakeClock(new Date(2026, 9, 24, 12).getTime());
    {
      await using host = await openTestHost({ services, dataDir, clock });
      await publish(host, 'quiet');
      for (let count = 0; count < 3; count += 1) await publish(host, 'busy');
      expect(published(await readStatistics(host))).toEqual({
        busy: [0, 0, 0, 0, 0, 0, 3],
        quiet: [0, 0, 0, 0, 0, 0, 1],
      });
    }
    // The day of the clock change has 25 hours.
    clock.advance(24 * 3600 * 1000);
    await using host = await openTestHost({ services, dataDir, clock });
    await publish(host, 'busy');
    const reply = await readStatistics(host);
    expect(published(reply)).toEqual({ busy: [0, 0, 0, 0, 0, 3, 1], quiet: [0, 0, 0, 0, 0, 1, 0] });
    expect(reply.days.slice(-2)).toEqual(['2026-10-24', '2026-10-25']);
    expect(reply.topics[0]).toMatchObject({ name: 'busy', listening: 0, sent: 0, failed: 0 });
    clock.advance(60_000);
    expect(published(await readStatistics(host))['busy']).toEqual([0, 0, 0, 0, 0, 3, 1]);
  });

  it('reports subscribers, and only topics that the account may read', async () => {
    await using host = await openTestHost({ services });
    await publish(host, 'open-news');
    await publish(host, 'closed-news');
    const leave = new AbortController();
    await fetch(`${host.url('push')}/open-news/json`, { headers, signal: leave.signal });
    await api(host.url('control'), '/api/accounts', {
      method: 'POST',
      body: JSON.stringify({
        name: 'grace',
        password: 'harbour light',
        grants: [{ service: 'push', resource: 'open-*', permission: 'read' }],
      }),
    });
    const grace = { Authorization: `Basic ${Buffer.from('grace:harbour light').toString('base64')}` };
    const { topics } = await readStatistics(host, '', grace);
    expect(topics).toMatchObject([{ name: 'open-news', listening: 1 }]);
    await expect(readStatistics(host, '?topic=closed-news', grace)).rejects.toThrow('403');
    expect((await readStatistics(host, '?topic=never')).topics).toMatchObject([{ name: 'never', latest: null }]);
    leave.abort();
  });

  it('excludes unreadable topics from counts by hour and priority, regardless of the text', async () => {
    const clock = createFakeClock(new Date(2026, 9, 24, 12, 30).getTime());
    await using host = await openTestHost({ services, clock });
    const send = async (topic: string, priority: string, body = 'x'): Promise<void> => {
      const requestHeaders = { ...headers, 'X-Priority': priority };
      expect(
        (await fetch(`${host.url('push')}/${topic}`, { method: 'POST', body, headers: requestHeaders })).status,
      ).toBe(200);
    };
    await send('open-news', '5', '"priority":1, "event":"none"');
    await send('open-news', '2');
    clock.advance(3600 * 1000);
    await send('open-news', '3', '{"priority":5}');
    await send('closed-news', '4');
    await api(host.url('control'), '/api/accounts', {
      method: 'POST',
      body: JSON.stringify({
        name: 'grace',
        password: 'harbour light',
        grants: [{ service: 'push', resource: 'open-*', permission: 'read' }],
      }),
    });
    const grace = { Authorization: `Basic ${Buffer.from('grace:harbour light').toString('base64')}` };
    const readHours = async (requestHeaders = {}) =>
      (
        await api<{ hours: readonly unknown[] }>(host.url('control'), '/api/push/statistics/hours', {
          headers: requestHeaders,
        })
      ).hours;
    const none = { low: 0, normal: 0, high: 0, urgent: 0 };
    const startTime = new Date(2026, 9, 24, 13).getTime();
    const earlier = { ...none, at: startTime - 3600 * 1000, low: 1, urgent: 1 };
    expect((await readHours()).slice(-3)).toEqual([
      { ...none, at: startTime - 2 * 3600 * 1000 },
      earlier,
      { ...none, at: startTime, normal: 1, high: 1 },
    ]);
    expect((await readHours(grace)).slice(-2)).toEqual([earlier, { ...none, at: startTime, normal: 1 }]);
    clock.advance(24 * 3600 * 1000);
    const readPrevious = async (headers = {}) =>
      (await api<{ previous: readonly number[] }>(host.url('control'), '/api/push/statistics/hours', { headers }))
        .previous;
    expect((await readPrevious()).slice(-3)).toEqual([0, 2, 2]);
    expect((await readPrevious(grace)).slice(-3)).toEqual([0, 2, 1]);
  });

  it('continues the counts of today and by hour across restarts, including expired messages', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'counts-'));
    using _folder = { [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }) };
    const clock = createFakeClock(new Date(2026, 9, 24, 1, 44).getTime());
    const countRecent = async (host: TestHost): Promise<number> => {
      const { hours } = await api<{ hours: readonly { normal: number }[] }>(
        host.url('control'),
        '/api/push/statistics/hours',
      );
      return hours.reduce((sum, { normal }) => sum + normal, 0);
    };
    {
      await using host = await openTestHost({ services, dataDir, clock });
      await publish(host, 'news');
    }
    // Longer than the retention of messages.
    clock.advance(13 * 3600 * 1000);
    await using host = await openTestHost({ services, dataDir, clock });
    await publish(host, 'news');
    expect(await countRecent(host)).toBe(2);
    expect(await api(host.url('control'), '/api/push/statistics')).toMatchObject({ today: 2 });
    clock.advance(12 * 3600 * 1000);
    expect(await countRecent(host)).toBe(1);
  });
});
