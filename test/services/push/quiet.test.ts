import * as texts from '#messages/push-texts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pushPopupRules, type PushPopupRules } from '../../../services/contracts/push/rules.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { newBrowser, openPushService } from './push-service.ts';
import { admin, openRig, type Rig } from './rig.ts';

const zone = 'Europe/Berlin';
const minuteMs = 60_000;
/** Allows for a busy computer, because encryption takes time. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 10_000 });

let service: Awaited<ReturnType<typeof openPushService>>;
let folder: string;
let clock: FakeClock;
let rig: Rig;
let browser: ReturnType<typeof newBrowser>;
/** Deliveries of the push service when the host started, whose counters begin at 0. */
let deliveredBefore: number;

beforeEach(async () => {
  service = await openPushService();
  folder = mkdtempSync(join(tmpdir(), 'push-quiet-'));
  // A Monday in Berlin, 23:00 summer time.
  clock = createFakeClock(Date.parse('2026-06-01T21:00:00Z'));
  await start();
  browser = newBrowser(service.origin);
  await subscribe(browser, ['news', 'doors', 'logs', 'alarms']);
});
afterEach(async () => {
  await rig[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  deliveredBefore = service.received.length;
  rig = await openRig({ dataDir: folder, clock, environment: { PUSH_WEB_PUSH_HOSTS: service.origin } });
}

async function api(method: string, path: string, body?: unknown, authorization = admin) {
  const reply = await fetch(`${rig.host.url('control')}${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, body: await reply.json() };
}
const subscribe = async (to: typeof browser, topics: string[], authorization = admin) => {
  const order = { endpoint: to.endpoint, ...to.keys, topics };
  expect((await api('PUT', '/api/push/browsers', order, authorization)).status).toBe(200);
};
const setRules = async (rules: object[], overrides: object = {}, authorization = admin) => {
  const reply = await api('PUT', '/api/push/quiet', { rules, zone, ...overrides }, authorization);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body;
};
const readState = async (authorization = admin) => (await api('GET', '/api/push/quiet', undefined, authorization)).body;
/** Returns the messages received by the browser. */
const receivedMessages = (to = browser, name = '/one') =>
  service.received.filter(({ path }) => path === name).map((entry) => to.open(entry));
const receivedTexts = () => receivedMessages().map(({ message }) => (message.message ?? '') as string);
const nightRule = { topics: '*', mode: 'normal', quiet: ['22:00-07:00'] };
/** Publishes a message that is always delivered, so that earlier ones are settled. */
const publishMarker = async (text: string) => {
  await rig.publish('/alarms', text, { priority: '4' });
  await eventually(receivedTexts).toContain(text);
};
/** Waits until deliveries are marked as done, except those to unknown browsers: a clock change would time them out. */
const waitUntilRecorded = async () => {
  const number = (page: string, name: string): number =>
    [...page.matchAll(new RegExp(`^${name} (\\d+)$`, 'gm'))].reduce((sum, [, count]) => sum + Number(count), 0);
  await eventually(async () => {
    const { text } = await rig.ask('GET', '/metrics');
    const sent = number(text, 'push_web_push_deliveries_total{result="sent"}');
    // The service has received deliveries that the host has not recorded yet.
    const tried = number(text, 'push_web_push_deliveries_total{result="[a-z_]+"}');
    if (tried < service.received.length - deliveredBefore) return Infinity;
    return sent - number(text, 'jobs_finished_total{.*kind="push.web-push",outcome="done".*}');
  }).toBeLessThanOrEqual(0);
};
const advance = async (ms: number) => {
  await waitUntilRecorded();
  clock.advance(ms);
};
const advanceTo = (time: string) => advance(Date.parse(time) - clock.now());

describe('a muted topic', () => {
  const mute = async (topic: string, until: number | null, authorization = admin) =>
    api('POST', `/api/push/topics/${topic}/mute`, { until }, authorization);

  it('holds all messages but urgent ones, and sends a summary at the end', async () => {
    const until = clock.now() + 60 * minuteMs;
    expect((await mute('news', until)).body).toEqual({ muted: [{ topic: 'news', until }] });
    for (const priority of [2, 3, 4, 5]) {
      await rig.publish('/news', `priority ${String(priority)}`, { priority: String(priority) });
    }
    await rig.publish('/doors', 'not muted');
    await eventually(receivedTexts).toHaveLength(2);
    expect(receivedTexts().sort()).toEqual(['not muted', 'priority 5']);
    await advance(61 * minuteMs);
    await eventually(receivedTexts).toContain('news 3');
    await rig.publish('/news', 'audible again');
    await eventually(receivedTexts).toContain('audible again');
    expect((await api('GET', '/api/push/muted')).body).toEqual({ muted: [] });
  });

  it('is unmuted early, keeps the rules, and survives a change of them', async () => {
    await setRules([{ topics: 'logs', mode: 'silent' }]);
    const until = clock.now() + 60 * minuteMs;
    await mute('news', until);
    const { quiet } = await readState();
    expect(quiet).toMatchObject({ zone, rules: [{ topics: 'logs' }], muted: [{ topic: 'news', until }] });
    await setRules([nightRule], { muted: quiet.muted });
    expect((await readState()).quiet.muted).toEqual([{ topic: 'news', until }]);
    expect((await mute('news', null)).body).toEqual({ muted: [] });
  });

  it('must be readable for the account', async () => {
    await rig.context.accounts.create({ name: 'mia', role: 'user', password: 'mia mia mia', grants: [] });
    const credentials = `Basic ${btoa('mia:mia mia mia')}`;
    expect((await mute('news', clock.now() + minuteMs, credentials)).status).toBe(403);
  });
});

describe('during quiet hours', () => {
  it('silences low priorities, holds 3, and delivers 4 and 5', async () => {
    await setRules([nightRule]);
    for (const priority of [1, 2, 3, 4, 5]) {
      await rig.publish('/news', `priority ${String(priority)}`, { priority: String(priority) });
    }
    await eventually(receivedTexts).toHaveLength(4);
    expect(receivedTexts().sort()).toEqual(['priority 1', 'priority 2', 'priority 4', 'priority 5']);
    expect((await readState()).held).toEqual([{ topic: 'news', messages: 1 }]);
  });

  it('streams and polls receive every message unchanged', async () => {
    await setRules([nightRule, { topics: 'news', mode: 'silent' }]);
    using stream = await rig.listen('/news,doors/json');
    const heldMessage = await rig.publish('/doors', 'held back');
    const silent = await rig.publish('/news', 'silent');
    await eventually(() => stream.messages).toEqual([heldMessage, silent]);
    expect(await rig.poll('/doors/json?poll=1')).toEqual([heldMessage]);
  });

  it('sends one digest at the end, by topic, without replaced and deleted messages', async () => {
    await setRules([nightRule]);
    for (let count = 0; count < 3; count += 1) await rig.publish('/news');
    await rig.publish('/doors/job', '10 %');
    await rig.publish('/doors/job', '90 %');
    await rig.publish('/logs/gone');
    await rig.ask('DELETE', '/logs/gone', { authorization: admin });
    await advanceTo('2026-06-02T04:59:59Z');
    await publishMarker('still quiet');
    expect(receivedTexts().filter((text) => text.includes('doors'))).toEqual([]);
    await advanceTo('2026-06-02T05:00:01Z');
    await eventually(receivedTexts).toContain('news 3, doors 1');
    expect(receivedMessages().at(-1)).toMatchObject({
      event: 'message',
      digest: true,
      message: { title: texts.digestTitle({ count: 4 }), sequence_id: 'quiet-digest', topic: 'news' },
    });
    expect((await readState()).held).toEqual([]);
    await rig.publish('/news', 'by day');
    await eventually(receivedTexts).toContain('by day');
  });

  it('messages read in the inbox are not counted', async () => {
    await setRules([nightRule]);
    for (const text of ['one', 'two', 'three']) await rig.publish('/news', text);
    await eventually(async () => (await api('GET', '/api/inbox')).body.total).toBe(3);
    const [read, otherItem] = (await api('GET', '/api/inbox')).body.items;
    await api('PATCH', '/api/inbox', { ids: [read.id], read: true });
    await api('POST', '/api/inbox/remove', { ids: [otherItem.id] });
    await eventually(async () => (await readState()).held).toEqual([{ topic: 'news', messages: 1 }]);
    await advanceTo('2026-06-02T05:00:00Z');
    await eventually(receivedTexts).toEqual(['news 1']);
    expect(receivedMessages()[0].message.title).toBe(texts.digestTitle({ count: 1 }));
  });

  it('counts only subscribed topics that the account may still read', async () => {
    const credentials = `Basic ${Buffer.from('mia:correct horse').toString('base64')}`;
    const grants = ['news', 'doors'].map((resource) => ({ service: 'push', resource, permission: 'read' as const }));
    await rig.context.accounts.create({ name: 'mia', password: 'correct horse', grants });
    const adaBrowser = newBrowser(service.origin, 'hers');
    await subscribe(adaBrowser, ['news', 'doors'], credentials);
    await setRules([nightRule], {}, credentials);
    for (const topic of ['news', 'news', 'doors', 'logs']) await rig.publish(`/${topic}`);
    // The administrator has no rules and received them immediately.
    await eventually(() => receivedMessages()).toHaveLength(4);
    await rig.context.accounts.setGrant('mia', 'push', 'doors', undefined);
    await advanceTo('2026-06-02T05:00:00Z');
    await eventually(() => receivedMessages(adaBrowser, '/hers').map(({ message }) => message.message)).toEqual([
      'news 2',
    ]);
    expect(receivedMessages()).toHaveLength(4);
  });

  it('records nothing for topics that the account may not read', async () => {
    const credentials = `Basic ${Buffer.from('mia:correct horse').toString('base64')}`;
    const grants = [{ service: 'push', resource: 'news', permission: 'read' as const }];
    await rig.context.accounts.create({ name: 'mia', password: 'correct horse', grants });
    const adaBrowser = newBrowser(service.origin, 'hers');
    await subscribe(adaBrowser, ['*'], credentials);
    await setRules([{ ...nightRule, repeatMinutes: 5 }], {}, credentials);
    await rig.publish('/secret', 'held');
    await rig.publish('/secret', 'urgent', { priority: '5' });
    await rig.publish('/news', 'held');
    expect(await readState(credentials)).toMatchObject({ held: [{ topic: 'news', messages: 1 }], urgent: [] });
    await advanceTo('2026-06-02T05:00:00Z');
    await eventually(() => receivedMessages(adaBrowser, '/hers').map(({ message }) => message.message)).toEqual([
      'news 1',
    ]);
  });

  it('deletes the data of a deleted account', async () => {
    const credentials = `Basic ${Buffer.from('mia:correct horse').toString('base64')}`;
    const mia = { name: 'mia', password: 'correct horse' };
    await rig.context.accounts.create(mia);
    await setRules([nightRule], {}, credentials);
    await rig.context.accounts.remove('mia');
    await eventually(async () => {
      if ((await rig.context.accounts.find('mia')) === undefined) await rig.context.accounts.create(mia);
      const { rules } = (await readState(credentials)).quiet;
      if (rules.length > 0) await rig.context.accounts.remove('mia');
      return rules;
    }).toEqual([]);
  });
});

describe('quiet-hours rules', () => {
  it('applies the rules of the longest pattern, with hours and repetition of the next shorter one by default', async () => {
    await setRules([
      nightRule,
      { topics: 'n*', mode: 'silent' },
      { topics: 'ne*', mode: 'normal' },
      { topics: 'doors', mode: 'always' },
      { topics: 'l*s', mode: 'normal', quiet: ['12:00-13:00'] },
    ]);
    for (const topic of ['news', 'doors', 'logs']) await rig.publish(`/${topic}`, topic);
    await publishMarker('last');
    expect(receivedTexts().sort()).toEqual(['doors', 'last', 'logs']);
    expect((await readState()).held).toEqual([{ topic: 'news', messages: 1 }]);
    await setRules([nightRule, { topics: 'news', mode: 'silent' }]);
    await rig.publish('/news', 'not heard', { priority: '5' });
    await eventually(() => receivedMessages().find(({ message }) => message.message === 'not heard')).toMatchObject({
      silent: true,
    });
    expect(service.received.at(-1)?.headers['urgency']).toBe('low');
    // Held messages of a silenced topic are dropped.
    await eventually(async () => (await readState()).held).toEqual([]);
    expect(receivedTexts()).not.toContain('news 1');
  });

  it('releases messages that the rules no longer hold', async () => {
    await setRules([nightRule]);
    await rig.publish('/news');
    await publishMarker('held');
    await setRules([]);
    await eventually(receivedTexts).toContain('news 1');
  });

  it('are refused when they are invalid', async () => {
    const fields = async (body: object) => {
      const reply = await api('PUT', '/api/push/quiet', { rules: [], ...body });
      return { status: reply.status, fields: Object.keys(reply.body.error?.fields ?? {}) };
    };
    const rule = (fault: object) => ({ rules: [{ topics: 'a', mode: 'normal', ...fault }] });
    expect(await fields(rule({ topics: 'a b' }))).toEqual({ status: 422, fields: ['rules.0.topics'] });
    expect(await fields(rule({ quiet: ['late'] }))).toEqual({ status: 422, fields: ['rules.0.quiet.0'] });
    expect(await fields(rule({ repeatMinutes: -1 }))).toEqual({ status: 422, fields: ['rules.0.repeatMinutes'] });
    expect(await fields({ zone: 'Middle/Earth' })).toEqual({ status: 422, fields: ['zone'] });
    expect(await fields({ rules: [nightRule, nightRule] })).toEqual({ status: 422, fields: ['rules.1.topics'] });
    expect((await api('GET', '/api/push/quiet', undefined, '')).status).toBe(401);
  });

  it('applies the rules of one administrator to the computer, while the account is an administrator', async () => {
    const publishedRules: PushPopupRules[] = [];
    using _heard = rig.context.bus.subscribe(pushPopupRules, (rules) => publishedRules.push(rules));
    const credentials = `Basic ${Buffer.from('mia:correct horse').toString('base64')}`;
    await rig.context.accounts.create({ name: 'mia', password: 'correct horse' });
    expect(await readState()).toMatchObject({ quiet: { popups: true }, popupsFollow: null });
    expect((await setRules([nightRule], { popups: true }, credentials)).quiet.popups).toBe(false);
    await setRules([nightRule], { popups: true });
    await eventually(() => publishedRules.at(-1)?.rules.map(({ topics }) => topics)).toEqual(['*']);
    expect(publishedRules.at(-1)?.follows).toBe((await readState()).popupsFollow);
    await rig.context.accounts.change('mia', { role: 'admin' });
    await setRules([{ topics: 'mia*', mode: 'silent' }], { popups: true }, credentials);
    await eventually(() => publishedRules.at(-1)?.rules.map(({ topics }) => topics)).toEqual(['mia*']);
    expect(await readState()).toMatchObject({ quiet: { popups: false }, popupsFollow: 'mia' });
    expect((await readState(credentials)).popupsFollow).toBe('mia');
    await rig.context.accounts.change('mia', { role: 'user' });
    await eventually(() => publishedRules.at(-1)?.rules).toEqual([]);
    expect(await readState()).toMatchObject({ popupsFollow: null });
    expect((await readState(credentials)).popupsFollow).toBeNull();
  });
});

describe('quiet hours over time', () => {
  it('summarizes quiet hours that ended while the service was down at the next start', async () => {
    await setRules([nightRule]);
    await rig.publish('/news');
    await publishMarker('held');
    await rig[Symbol.asyncDispose]();
    clock = createFakeClock(Date.parse('2026-06-02T09:00:00Z'));
    await start();
    await eventually(receivedTexts).toContain('news 1');
    expect(receivedTexts().filter((text) => text === 'news 1')).toHaveLength(1);
  });

  it('continues after a restart', async () => {
    await setRules([nightRule]);
    await rig.publish('/news');
    await publishMarker('held');
    await rig[Symbol.asyncDispose]();
    await start();
    await rig.publish('/news');
    await publishMarker('after the restart');
    expect(receivedTexts()).not.toContain('news 1');
    await advanceTo('2026-06-02T05:00:00Z');
    await eventually(receivedTexts).toContain('news 2');
  });

  it('holds deliveries that failed before quiet hours began', async () => {
    await setRules([{ topics: '*', mode: 'normal', quiet: ['23:00-07:00'] }]);
    await rig[Symbol.asyncDispose]();
    clock = createFakeClock(Date.parse('2026-06-01T20:59:58Z'));
    await start();
    service.answers.push(503);
    await rig.publish('/news');
    await eventually(() => service.received).toHaveLength(1);
    await eventually(async () => (await rig.ask('GET', '/metrics')).text).toContain('outcome="retried"} 1');
    await advance(10_000);
    await eventually(async () => (await readState()).held).toEqual([{ topic: 'news', messages: 1 }]);
    await advanceTo('2026-06-02T05:00:00Z');
    await eventually(receivedTexts).toContain('news 1');
    expect(service.received).toHaveLength(2);
  });

  it.each([
    ['the night summer time begins', '2026-03-29T00:30:00Z', '2026-03-29T04:59:59Z'],
    ['the night it ends', '2026-10-24T22:30:00Z', '2026-10-25T05:59:59Z'],
  ])('ends %s at the same local time', async (_night, from, lastSecond) => {
    await rig[Symbol.asyncDispose]();
    clock = createFakeClock(Date.parse(from));
    await start();
    await subscribe(browser, ['news', 'alarms']);
    await setRules([nightRule]);
    await rig.publish('/news');
    await advanceTo(lastSecond);
    await publishMarker('still quiet');
    expect(receivedTexts()).not.toContain('news 1');
    await advance(1000);
    await eventually(receivedTexts).toContain('news 1');
  });

  it('follows a clock that is set forward or back', async () => {
    await setRules([nightRule]);
    await rig.publish('/news');
    await publishMarker('held');
    clock.set(Date.parse('2026-05-30T21:00:00Z'));
    await advance(2 * minuteMs);
    await publishMarker('two days before');
    expect((await readState()).held).toEqual([{ topic: 'news', messages: 1 }]);
    clock.set(Date.parse('2026-06-02T10:00:00Z'));
    await advance(minuteMs);
    await eventually(receivedTexts).toContain('news 1');
  });
});

describe('urgent message', () => {
  const urgent = { priority: '5', title: 'Fire' };
  const alarms = () => receivedTexts().filter((text) => text === 'smoke');
  const repeating = [{ ...nightRule, repeatMinutes: 5 }];
  /** Waits until the reminders of these minutes are sent. */
  const passed = async (minutes: number, expected: number) => {
    await advance(minutes * minuteMs);
    await eventually(alarms).toHaveLength(expected);
  };

  it('is repeated until the notification is clicked, also after a restart', async () => {
    await setRules(repeating);
    await rig.publish('/alarms', 'smoke', urgent);
    await eventually(alarms).toHaveLength(1);
    await passed(5, 2);
    await rig[Symbol.asyncDispose]();
    await start();
    await passed(5, 3);
    const [first, , third] = receivedMessages();
    expect(third).toEqual(first);
    expect((await readState()).urgent).toMatchObject([
      { topic: 'alarms', title: 'Fire', next: clock.now() + 5 * minuteMs },
    ]);
    // The worker has no session, only the data of the message.
    const response = await fetch(`${rig.host.url('control')}/api/push/acknowledge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: third.acknowledge }),
    });
    expect(response.status).toBe(200);
    expect((await readState()).urgent).toEqual([]);
    await advance(10 * minuteMs);
    await publishMarker('later');
    expect(alarms()).toHaveLength(3);
  });

  it.each([
    ['read in the inbox', async () => api('PATCH', '/api/inbox', { ids: 'all', read: true })],
    ['put away in the inbox', async () => api('PATCH', '/api/inbox', { ids: 'all', done: true })],
    ['cleared', async () => rig.ask('PUT', '/alarms/fire/clear', { authorization: admin })],
    ['deleted', async () => rig.ask('DELETE', '/alarms/fire', { authorization: admin })],
    ['replaced by a lower one', async () => rig.publish('/alarms/fire', 'it is out', { priority: '3' })],
    ['made silent', async () => setRules([{ topics: 'alarms', mode: 'silent' }])],
  ])('is not repeated after it was %s', async (_case, acknowledge) => {
    await setRules(repeating);
    await rig.publish('/alarms/fire', 'smoke', urgent);
    await eventually(async () => (await api('GET', '/api/inbox')).body.total).toBe(1);
    await eventually(alarms).toHaveLength(1);
    await passed(5, 2);
    await acknowledge();
    await eventually(async () => (await readState()).urgent).toEqual([]);
    await setRules([]);
    await advance(10 * minuteMs);
    await publishMarker('later');
    expect(alarms()).toHaveLength(2);
  });

  it('is sent once without a rule, and repeated for a limited time with one', async () => {
    await rig.publish('/alarms', 'smoke', urgent);
    await eventually(alarms).toHaveLength(1);
    expect((await readState()).urgent).toEqual([]);
    await setRules([{ ...nightRule, repeatMinutes: 720 }]);
    await rig.publish('/alarms', 'smoke', urgent);
    await eventually(alarms).toHaveLength(2);
    await passed(720, 3);
    await advance(720 * minuteMs);
    await eventually(async () => (await readState()).urgent).toEqual([]);
    expect(alarms()).toHaveLength(3);
  });

  it('is repeated within its interval after the clock was set back', async () => {
    await setRules(repeating);
    await rig.publish('/alarms', 'smoke', urgent);
    await eventually(alarms).toHaveLength(1);
    clock.set(clock.now() - 24 * 60 * minuteMs);
    await advance(minuteMs);
    await eventually(async () => (await readState()).urgent[0]?.next).toBeLessThanOrEqual(clock.now() + 5 * minuteMs);
    await passed(5, 2);
  });

  it('is repeated for twenty messages of a flood, and each is sent once', async () => {
    await setRules(repeating);
    await Promise.all(Array.from({ length: 30 }, () => rig.publish('/alarms', 'smoke', urgent)));
    await eventually(alarms).toHaveLength(30);
    expect((await readState()).urgent).toHaveLength(20);
    await passed(5, 50);
  });
});
