import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api } from '../../support/api.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { admin, openRig, type Rig } from './rig.ts';

/** Allows for a busy computer. */
const eventually: typeof expect.poll = (get, options) => expect.poll(get, { timeout: 20_000, ...options });

const minuteMs = 60_000;
const hourSeconds = 3600;

function setRetention(rig: Rig, rules?: readonly unknown[], authorization = admin): Promise<any> {
  return api(rig.host.url('control'), '/api/push/retention', {
    headers: { Authorization: authorization },
    ...(rules === undefined ? {} : { method: 'PUT', body: JSON.stringify({ rules }) }),
  });
}

async function listTexts(rig: Rig, topic: string): Promise<string[]> {
  return (await rig.poll(`/${topic}/json?poll=1`)).map(({ message }) => message as string);
}

describe('message retention', () => {
  let clock: FakeClock;
  let rig: Rig;
  beforeAll(async () => {
    clock = createFakeClock();
    rig = await openRig({ clock });
  });
  afterAll(() => rig[Symbol.asyncDispose]());
  const getLifetime = ({ time, expires }: any): number => expires - time;

  it('is set by topic with the longest pattern first, or by the setting, and returned in expires', async () => {
    expect(await setRetention(rig)).toEqual({ rules: [], kept: [], otherwise: 12 * hourSeconds });
    const rules = [
      { topic: 'logs-*', seconds: hourSeconds, most: null },
      { topic: 'logs-audit-*', seconds: 30 * 24 * hourSeconds, most: null },
      { topic: '*-few', seconds: null, most: 3 },
    ];
    expect((await setRetention(rig, rules)).rules).toHaveLength(3);
    expect(getLifetime(await rig.publish('/logs-web'))).toBe(hourSeconds);
    expect(getLifetime(await rig.publish('/logs-audit-web'))).toBe(30 * 24 * hourSeconds);
    expect(getLifetime(await rig.publish('/x-few'))).toBe(12 * hourSeconds);
    expect(getLifetime(await rig.publish('/other'))).toBe(12 * hourSeconds);
    expect(getLifetime(await rig.publish('/logs-web', 'x', { In: '1h' }))).toBe(hourSeconds);
  });

  it('is shortened by the message in header, query and JSON', async () => {
    await setRetention(rig, [{ topic: 'brief-*', seconds: hourSeconds, most: null }]);
    expect(getLifetime(await rig.publish('/brief-x', 'x', { Expire: '10m' }))).toBe(600);
    expect(getLifetime(await rig.publish('/brief-x?expire=30s'))).toBe(30);
    const { text } = await rig.ask(
      'POST',
      '/',
      { authorization: admin },
      '{"topic":"brief-x","message":"m","expire":"2 minutes"}',
    );
    expect(getLifetime(JSON.parse(text))).toBe(120);
    expect(getLifetime(await rig.publish('/brief-x', 'x', { Expire: '2 days' }))).toBe(hourSeconds);
    const refused = await rig.ask('POST', '/brief-x', { authorization: admin, Expire: 'soon' }, 'x');
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('expire takes a duration')]);
  });

  it('may be zero: only current subscribers receive the message', async () => {
    await setRetention(rig, [{ topic: 'live-*', seconds: 0, most: null }]);
    using stream = await rig.listen('/live-x/json');
    const message = await rig.publish('/live-x', 'now or never');
    expect(message).not.toHaveProperty('expires');
    await eventually(() => stream.messages).toMatchObject([{ message: 'now or never' }]);
    const { attachment } = await rig.publish('/live-x', 'file', { Filename: 'a.txt' });
    expect((await rig.ask('GET', new URL(attachment.url).pathname)).text).toBe('file');
    await rig.publish('/live-x', 'later', { In: '1m' });
    clock.advance(minuteMs);
    await eventually(() => stream.messages).toHaveLength(3);
    expect(stream.messages[2]).not.toHaveProperty('expires');
    expect(await listTexts(rig, 'live-x')).toEqual([]);
  });

  it('applies to stored and delayed messages without extending them', async () => {
    await setRetention(rig, []);
    await rig.publish('/was', 'short', { Expire: '10m' });
    const { attachment } = await rig.publish('/was', 'file', { Filename: 'a.txt', Message: 'with file' });
    await rig.publish('/was', 'long');
    await rig.publish('/was', 'waits', { In: '30s' });
    await setRetention(rig, [{ topic: 'was', seconds: hourSeconds, most: null }]);
    clock.advance(minuteMs);
    const readLifetimes = async (): Promise<number[]> => (await rig.poll('/was/json?poll=1')).map(getLifetime);
    await eventually(readLifetimes).toEqual([600, hourSeconds, hourSeconds, hourSeconds]);
    const [, file] = await rig.poll('/was/json?poll=1');
    expect(file.attachment.expires).toBe(file.expires);
    await setRetention(rig, [{ topic: 'was', seconds: 7 * hourSeconds, most: null }]);
    clock.advance(minuteMs);
    expect(await readLifetimes()).toEqual([600, hourSeconds, hourSeconds, hourSeconds]);
    await setRetention(rig, [{ topic: 'was', seconds: 0, most: null }]);
    clock.advance(minuteMs);
    await eventually(readLifetimes).toEqual([]);
    expect((await rig.ask('GET', new URL(attachment.url).pathname)).status).toBe(404);
  });

  it('keeps the newest messages of each topic and deletes others with files and words, in batches', async () => {
    await setRetention(rig, [{ topic: '*-few', seconds: null, most: 3 }]);
    const { attachment } = await rig.publish('/a-few', 'file', { Filename: 'a.txt' });
    await Promise.all(Array.from({ length: 1200 }, (_, index) => rig.publish('/a-few', `crowd ${String(index)}`)));
    for (const text of ['x', 'y', 'z']) await rig.publish('/a-few', `few ${text}`);
    await rig.publish('/b-few', 'few alone');
    clock.advance(minuteMs);
    await eventually(() => listTexts(rig, 'a-few')).toEqual(['few x', 'few y', 'few z']);
    expect(await listTexts(rig, 'b-few')).toEqual(['few alone']);
    const searchResult = await api<any>(rig.host.url('control'), '/api/push/search?words=crowd&topic=a-few', {
      headers: { Authorization: admin },
    });
    expect(searchResult.messages).toEqual([]);
    await eventually(async () => (await rig.ask('GET', new URL(attachment.url).pathname)).status).toBe(404);
  });

  it('reports the topics and messages of each rule', async () => {
    await rig.publish('/count-a', 'one');
    await rig.publish('/count-a', 'two');
    await rig.publish('/count-b-x', 'three');
    const rules = [
      { topic: 'count-*', seconds: hourSeconds, most: null },
      { topic: 'count-b-*', seconds: hourSeconds, most: null },
      { topic: 'nothing-*', seconds: hourSeconds, most: null },
    ];
    const retained = [
      { topics: 1, messages: 2 },
      { topics: 1, messages: 1 },
      { topics: 0, messages: 0 },
    ];
    expect((await setRetention(rig, rules)).kept).toEqual(retained);
    expect((await setRetention(rig)).kept).toEqual(retained);
  });

  it('requires an administrator and distinct patterns', async () => {
    await api(rig.host.url('control'), '/api/accounts', {
      method: 'POST',
      headers: { Authorization: admin },
      body: JSON.stringify({ name: 'ada', password: 'harbour light' }),
    });
    const ada = 'Basic ' + Buffer.from('ada:harbour light').toString('base64');
    const fault = (rules: readonly unknown[] | undefined, authorization = admin): Promise<string> =>
      setRetention(rig, rules, authorization).then(String, (error: Error) => error.message);
    expect(await fault(undefined, ada)).toContain('403');
    expect(await fault([], ada)).toContain('403');
    const rule = { topic: 'a', seconds: 60, most: null };
    expect(await fault([rule, { ...rule, seconds: 5 }])).toContain('rules.1.topic');
    expect(await fault([{ ...rule, topic: 'a b' }])).toContain('422');
    expect(await fault([{ ...rule, most: 0 }])).toContain('422');
    expect(await fault([{ ...rule, seconds: -1 }])).toContain('422');
  });
});

it('continues after a restart with existing messages', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'push-retention-'));
  const clock = createFakeClock();
  try {
    {
      await using rig = await openRig({ dataDir, clock });
      for (const text of ['a', 'b', 'c', 'd']) await rig.publish('/kept', text);
      await setRetention(rig, [{ topic: 'kept', seconds: hourSeconds, most: 2 }]);
    }
    await using rig = await openRig({ dataDir, clock });
    expect((await rig.publish('/kept', 'e')).expires).toBe(clock.now() / 1000 + hourSeconds);
    clock.advance(minuteMs);
    await eventually(() => listTexts(rig, 'kept')).toEqual(['d', 'e']);
    const readLifetimes = (await rig.poll('/kept/json?poll=1')).map(({ time, expires }) => expires - time);
    expect(readLifetimes).toEqual([hourSeconds, hourSeconds]);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
