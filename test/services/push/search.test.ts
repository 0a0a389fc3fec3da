import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PushMessage } from '../../../services/contracts/push/api.ts';
import { api } from '../../support/api.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { admin, openRig, type Rig } from './rig.ts';

/** Allows for a busy computer. */
const eventually: typeof expect.poll = (get, options) => expect.poll(get, { timeout: 20_000, ...options });

interface SearchReply {
  readonly messages: readonly PushMessage[];
  readonly next: number | null;
}

describe('message search', () => {
  let clock: FakeClock;
  let rig: Rig;
  const ada = 'Basic ' + Buffer.from('ada:harbour light').toString('base64');
  beforeAll(async () => {
    clock = createFakeClock();
    rig = await openRig({ clock });
    await api(rig.host.url('control'), '/api/accounts', {
      method: 'POST',
      headers: { Authorization: admin },
      body: JSON.stringify({
        name: 'ada',
        password: 'harbour light',
        grants: [
          { service: 'push', resource: 'ada-*', permission: 'read' },
          { service: 'push', resource: 'ada-secret', permission: 'none' },
        ],
      }),
    });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const sendRequest = (query: Record<string, string | number>, as = admin): Promise<SearchReply> => {
    const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    return api(rig.host.url('control'), `/api/push/search?${text.toString()}`, { headers: { Authorization: as } });
  };
  const findTexts = async (...args: Parameters<typeof sendRequest>): Promise<string[]> =>
    (await sendRequest(...args)).messages.map(({ message }) => message);

  it('finds title, text and tags in all topics, newest first', async () => {
    await rig.publish('/nas', 'Volume is FULL', { Title: 'Disk', Tags: 'warning' });
    await rig.publish('/cloud', 'Sicherung für Gebäude fertig');
    await rig.publish('/tokyo', '備份完成', { Title: '=?UTF-8?B?5p2x5Lqs?=' });
    await rig.publish('/nas', 'Disk replaced', { Priority: '4' });
    expect(await findTexts({ words: 'disk' })).toEqual(['Disk replaced', 'Volume is FULL']);
    expect(await findTexts({ words: '"volume is"' })).toEqual(['Volume is FULL']);
    expect(await findTexts({ words: 'warning' })).toEqual(['Volume is FULL']);
    expect(await findTexts({ words: 'fur gebau' })).toEqual(['Sicherung für Gebäude fertig']);
    expect(await findTexts({ words: '完成' })).toEqual(['備份完成']);
    expect(await findTexts({ words: '東京' })).toEqual(['備份完成']);
    expect(await findTexts({ words: '???' })).toEqual([]);
    expect(await findTexts({})).toHaveLength(4);
  });

  it('filters by topic pattern, priority, tag and time', async () => {
    await rig.publish('/web-error-backup', 'narrow one', { Priority: '5', Tags: 'a b,red' });
    clock.advance(60_000);
    const since = clock.now();
    await rig.publish('/web-info-backup', 'narrow two', { Tags: 'a' });
    await rig.publish('/web-info-update', 'narrow three', { Tags: 'red' });
    expect(await findTexts({ words: 'narrow', topic: 'web-*-backup' })).toEqual(['narrow two', 'narrow one']);
    expect(await findTexts({ words: 'narrow', topic: 'web-info-update' })).toEqual(['narrow three']);
    expect(await findTexts({ words: 'narrow', priority: 4 })).toEqual(['narrow one']);
    expect(await findTexts({ words: 'narrow', tag: 'a' })).toEqual(['narrow two']);
    expect(await findTexts({ tag: 'red' })).toEqual(['narrow three', 'narrow one']);
    expect(await findTexts({ words: 'narrow', since })).toEqual(['narrow three', 'narrow two']);
    expect(await findTexts({ words: 'narrow', until: since - 1 })).toEqual(['narrow one']);
    await expect(sendRequest({ words: 'x', topic: 'a b' })).rejects.toThrow('422');
  });

  it('returns only what each account may read', async () => {
    await rig.publish('/ada-open', 'shared word');
    await rig.publish('/ada-secret', 'shared secret word');
    await rig.publish('/other', 'shared foreign word');
    expect(await findTexts({ words: 'shared' })).toHaveLength(3);
    expect(await findTexts({ words: 'shared' }, ada)).toEqual(['shared word']);
    expect(await findTexts({ words: 'shared', topic: 'other' }, ada)).toEqual([]);
    expect((await fetch(`${rig.host.url('control')}/api/push/search`)).status).toBe(401);
  });

  it('paginates without gaps and duplicates', async () => {
    for (let count = 0; count < 25; count += 1) {
      await rig.publish(count % 2 === 0 ? '/ada-paged' : '/paged', `paged ${String(count)}`);
    }
    for (const [as, count] of [
      [admin, 25],
      [ada, 13],
    ] as const) {
      const seen: string[] = [];
      for (let before: number | null = 1e9; before !== null;) {
        const page: SearchReply = await sendRequest({ words: 'paged', limit: 4, before }, as);
        seen.push(...page.messages.map(({ message }) => message));
        before = page.next;
      }
      expect(seen).toHaveLength(count);
      expect(new Set(seen).size).toBe(count);
      expect(seen[0]).toBe('paged 24');
    }
  });

  it('excludes replaced, deleted, uncached and unreadable messages', async () => {
    await rig.publish('/seq/job-1', 'progress ten');
    await rig.publish('/seq/job-1', 'progress ninety');
    expect(await findTexts({ words: 'progress' })).toEqual(['progress ninety']);
    const { id } = await rig.publish('/seq', 'progress alone');
    await rig.ask('DELETE', `/seq/${id}`, { authorization: admin });
    await rig.ask('DELETE', '/seq/job-1', { authorization: admin });
    expect(await findTexts({ words: 'progress' })).toEqual([]);
    await Promise.all(['a', 'b', 'c'].map((text) => rig.publish('/seq/job-2', `together ${text}`)));
    expect(await findTexts({ words: 'together' })).toHaveLength(1);
    await rig.publish('/seq', 'fleeting', { Cache: 'no' });
    await rig.publish('/upABCDEFGHIJKL?up=1', 'sealed');
    expect(await findTexts({ words: 'fleeting' })).toEqual([]);
    expect(await findTexts({ words: 'sealed' })).toEqual([]);
  });

  it('finds delayed messages after publication, and none after expiry', async () => {
    await rig.publish('/later', 'patience', { In: '1m', Expire: '10m' });
    expect(await findTexts({ words: 'patience' })).toEqual([]);
    clock.advance(60_000);
    await eventually(() => findTexts({ words: 'patience' })).toEqual(['patience']);
    clock.set(clock.now() + 599_000);
    clock.advance(1000);
    expect(await findTexts({ words: 'patience' })).toEqual([]);
    clock.advance(60_000);
    await eventually(async () => (await rig.poll('/later/json?poll=1')).length).toBe(0);
    await rig.publish('/later', 'patience again');
    expect(await findTexts({ words: 'patience' })).toEqual(['patience again']);
  });
});
