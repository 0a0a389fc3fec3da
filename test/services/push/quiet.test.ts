import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pushPopupRules, type PushPopupRules } from '../../../services/contracts/push/rules.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { newBrowser, openPushService } from './push-service.ts';
import { admin, openRig, type Rig } from './rig.ts';

const zone = 'Europe/Berlin';
const minute = 60_000;
/** The machine may be busy: an encrypted delivery takes its time. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 10_000 });

let service: Awaited<ReturnType<typeof openPushService>>;
let folder: string;
let clock: FakeClock;
let rig: Rig;
let browser: ReturnType<typeof newBrowser>;
/** What the push service had got when the host started, whose counters begin at 0. */
let before: number;

beforeEach(async () => {
  service = await openPushService();
  folder = mkdtempSync(join(tmpdir(), 'push-quiet-'));
  // A Monday evening in Berlin, 23:00 of summer time.
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
  before = service.received.length;
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
const setRules = async (rules: object[], more: object = {}, authorization = admin) => {
  const reply = await api('PUT', '/api/push/quiet', { rules, zone, ...more }, authorization);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body;
};
const state = async (authorization = admin) => (await api('GET', '/api/push/quiet', undefined, authorization)).body;
/** What the browser got so far. */
const got = (to = browser, name = '/one') =>
  service.received.filter(({ path }) => path === name).map((each) => to.open(each));
const texts = () => got().map(({ message }) => (message.message ?? '') as string);
const nights = { topics: '*', mode: 'normal', quiet: ['22:00-07:00'] };
/** Something that reaches the browser whatever the rules say, so that what was before it is known to be settled. */
const settle = async (text: string) => {
  await rig.publish('/alarms', text, { priority: '4' });
  await eventually(texts).toContain(text);
};
/** Deliveries that are out (those to nobody are not) are also marked as done: a clock that leaps meanwhile would let them time out. */
const marked = async () => {
  const number = (page: string, name: string): number =>
    [...page.matchAll(new RegExp(`^${name} (\\d+)$`, 'gm'))].reduce((sum, [, count]) => sum + Number(count), 0);
  await eventually(async () => {
    const { text } = await rig.ask('GET', '/metrics');
    const sent = number(text, 'push_web_push_deliveries_total{result="sent"}');
    // The service has what the host does not know to be sent yet.
    const tried = number(text, 'push_web_push_deliveries_total{result="[a-z_]+"}');
    if (tried < service.received.length - before) return Infinity;
    return sent - number(text, 'jobs_finished_total{.*kind="push.web-push",outcome="done".*}');
  }).toBeLessThanOrEqual(0);
};
const advance = async (ms: number) => {
  await marked();
  clock.advance(ms);
};
const advanceTo = (time: string) => advance(Date.parse(time) - clock.now());

describe('while it is quiet', () => {
  it('low priorities come without a sound, 3 waits, 4 and 5 pass', async () => {
    await setRules([nights]);
    for (const priority of [1, 2, 3, 4, 5]) {
      await rig.publish('/news', `priority ${String(priority)}`, { priority: String(priority) });
    }
    await eventually(texts).toHaveLength(4);
    expect(texts().sort()).toEqual(['priority 1', 'priority 2', 'priority 4', 'priority 5']);
    expect((await state()).held).toEqual([{ topic: 'news', messages: 1 }]);
  });

  it('streams and polls get every message as it is', async () => {
    await setRules([nights, { topics: 'news', mode: 'silent' }]);
    using stream = await rig.listen('/news,doors/json');
    const held = await rig.publish('/doors', 'held back');
    const silent = await rig.publish('/news', 'silent');
    await eventually(() => stream.messages).toEqual([held, silent]);
    expect(await rig.poll('/doors/json?poll=1')).toEqual([held]);
  });

  it('one digest says at the end what came, by topic, without what was replaced or taken back', async () => {
    await setRules([nights]);
    for (let count = 0; count < 3; count += 1) await rig.publish('/news');
    await rig.publish('/doors/job', '10 %');
    await rig.publish('/doors/job', '90 %');
    await rig.publish('/logs/gone');
    await rig.ask('DELETE', '/logs/gone', { authorization: admin });
    await advanceTo('2026-06-02T04:59:59Z');
    await settle('still quiet');
    expect(texts().filter((text) => text.includes('doors'))).toEqual([]);
    await advanceTo('2026-06-02T05:00:01Z');
    await eventually(texts).toContain('news 3, doors 1');
    expect(got().at(-1)).toMatchObject({
      event: 'message',
      digest: true,
      message: { title: '4 messages while it was quiet', sequence_id: 'quiet-digest', topic: 'news' },
    });
    expect((await state()).held).toEqual([]);
    await rig.publish('/news', 'by day');
    await eventually(texts).toContain('by day');
  });

  it('what was read in the inbox meanwhile is not counted', async () => {
    await setRules([nights]);
    for (const text of ['one', 'two', 'three']) await rig.publish('/news', text);
    await eventually(async () => (await api('GET', '/api/inbox')).body.total).toBe(3);
    const [read, away] = (await api('GET', '/api/inbox')).body.items;
    await api('PATCH', '/api/inbox', { ids: [read.id], read: true });
    await api('POST', '/api/inbox/remove', { ids: [away.id] });
    await eventually(async () => (await state()).held).toEqual([{ topic: 'news', messages: 1 }]);
    await advanceTo('2026-06-02T05:00:00Z');
    await eventually(texts).toEqual(['news 1']);
    expect(got()[0].message.title).toBe('1 message while it was quiet');
  });

  it('a digest counts only what the browser wants and its person may still read', async () => {
    const credentials = `Basic ${Buffer.from('mia:correct horse').toString('base64')}`;
    const grants = ['news', 'doors'].map((resource) => ({ service: 'push', resource, permission: 'read' as const }));
    await rig.context.accounts.create({ name: 'mia', password: 'correct horse', grants });
    const hers = newBrowser(service.origin, 'hers');
    await subscribe(hers, ['news', 'doors'], credentials);
    await setRules([nights], {}, credentials);
    for (const topic of ['news', 'news', 'doors', 'logs']) await rig.publish(`/${topic}`);
    // The administrator has no rules: theirs came at once.
    await eventually(() => got()).toHaveLength(4);
    await rig.context.accounts.setGrant('mia', 'push', 'doors', undefined);
    await advanceTo('2026-06-02T05:00:00Z');
    await eventually(() => got(hers, '/hers').map(({ message }) => message.message)).toEqual(['news 2']);
    expect(got()).toHaveLength(4);
  });

  it('nothing is noted of topics that a person may not read, though the browser wants all', async () => {
    const credentials = `Basic ${Buffer.from('mia:correct horse').toString('base64')}`;
    const grants = [{ service: 'push', resource: 'news', permission: 'read' as const }];
    await rig.context.accounts.create({ name: 'mia', password: 'correct horse', grants });
    const hers = newBrowser(service.origin, 'hers');
    await subscribe(hers, ['*'], credentials);
    await setRules([{ ...nights, repeatMinutes: 5 }], {}, credentials);
    await rig.publish('/secret', 'held');
    await rig.publish('/secret', 'urgent', { priority: '5' });
    await rig.publish('/news', 'held');
    expect(await state(credentials)).toMatchObject({ held: [{ topic: 'news', messages: 1 }], urgent: [] });
    await advanceTo('2026-06-02T05:00:00Z');
    await eventually(() => got(hers, '/hers').map(({ message }) => message.message)).toEqual(['news 1']);
  });

  it('an account that is removed leaves nothing behind', async () => {
    const credentials = `Basic ${Buffer.from('mia:correct horse').toString('base64')}`;
    const mia = { name: 'mia', password: 'correct horse' };
    await rig.context.accounts.create(mia);
    await setRules([nights], {}, credentials);
    await rig.context.accounts.remove('mia');
    await eventually(async () => {
      if ((await rig.context.accounts.find('mia')) === undefined) await rig.context.accounts.create(mia);
      const { rules } = (await state(credentials)).quiet;
      if (rules.length > 0) await rig.context.accounts.remove('mia');
      return rules;
    }).toEqual([]);
  });
});

describe('the rules', () => {
  it('of the longest pattern count; its quiet hours and repetition are those of the next shorter one where it has none', async () => {
    await setRules([
      nights,
      { topics: 'n*', mode: 'silent' },
      { topics: 'ne*', mode: 'normal' },
      { topics: 'doors', mode: 'always' },
      { topics: 'l*s', mode: 'normal', quiet: ['12:00-13:00'] },
    ]);
    for (const topic of ['news', 'doors', 'logs']) await rig.publish(`/${topic}`, topic);
    await settle('last');
    expect(texts().sort()).toEqual(['doors', 'last', 'logs']);
    expect((await state()).held).toEqual([{ topic: 'news', messages: 1 }]);
    await setRules([nights, { topics: 'news', mode: 'silent' }]);
    await rig.publish('/news', 'not heard', { priority: '5' });
    await eventually(() => got().find(({ message }) => message.message === 'not heard')).toMatchObject({
      silent: true,
    });
    expect(service.received.at(-1)?.headers['urgency']).toBe('low');
    // What was held is not told either, now that the topic is silent.
    await eventually(async () => (await state()).held).toEqual([]);
    expect(texts()).not.toContain('news 1');
  });

  it('tell at once what they hold back no longer', async () => {
    await setRules([nights]);
    await rig.publish('/news');
    await settle('held');
    await setRules([]);
    await eventually(texts).toContain('news 1');
  });

  it('are refused where nobody could follow them', async () => {
    const fields = async (body: object) => {
      const reply = await api('PUT', '/api/push/quiet', { rules: [], ...body });
      return { status: reply.status, fields: Object.keys(reply.body.error?.fields ?? {}) };
    };
    const rule = (fault: object) => ({ rules: [{ topics: 'a', mode: 'normal', ...fault }] });
    expect(await fields(rule({ topics: 'a b' }))).toEqual({ status: 422, fields: ['rules.0.topics'] });
    expect(await fields(rule({ quiet: ['late'] }))).toEqual({ status: 422, fields: ['rules.0.quiet.0'] });
    expect(await fields(rule({ repeatMinutes: -1 }))).toEqual({ status: 422, fields: ['rules.0.repeatMinutes'] });
    expect(await fields({ zone: 'Middle/Earth' })).toEqual({ status: 422, fields: ['zone'] });
    expect(await fields({ rules: [nights, nights] })).toEqual({ status: 422, fields: ['rules.1.topics'] });
    expect((await api('GET', '/api/push/quiet', undefined, '')).status).toBe(401);
  });

  it('of one administrator are those of the machine, and only while they administrate', async () => {
    const told: PushPopupRules[] = [];
    using _heard = rig.context.bus.subscribe(pushPopupRules, (rules) => told.push(rules));
    const credentials = `Basic ${Buffer.from('mia:correct horse').toString('base64')}`;
    await rig.context.accounts.create({ name: 'mia', password: 'correct horse' });
    expect(await state()).toMatchObject({ quiet: { popups: true }, popupsFollow: null });
    expect((await setRules([nights], { popups: true }, credentials)).quiet.popups).toBe(false);
    await setRules([nights], { popups: true });
    await eventually(() => told.at(-1)?.rules.map(({ topics }) => topics)).toEqual(['*']);
    expect(told.at(-1)?.follows).toBe((await state()).popupsFollow);
    await rig.context.accounts.change('mia', { role: 'admin' });
    await setRules([{ topics: 'mia*', mode: 'silent' }], { popups: true }, credentials);
    await eventually(() => told.at(-1)?.rules.map(({ topics }) => topics)).toEqual(['mia*']);
    expect(await state()).toMatchObject({ quiet: { popups: false }, popupsFollow: 'mia' });
    expect((await state(credentials)).popupsFollow).toBe('mia');
    await rig.context.accounts.change('mia', { role: 'user' });
    await eventually(() => told.at(-1)?.rules).toEqual([]);
    expect(await state()).toMatchObject({ popupsFollow: null });
    expect((await state(credentials)).popupsFollow).toBeNull();
  });
});

describe('over time', () => {
  it('a quiet that ended while nothing ran is summed up at the next start', async () => {
    await setRules([nights]);
    await rig.publish('/news');
    await settle('held');
    await rig[Symbol.asyncDispose]();
    clock = createFakeClock(Date.parse('2026-06-02T09:00:00Z'));
    await start();
    await eventually(texts).toContain('news 1');
    expect(texts().filter((text) => text === 'news 1')).toHaveLength(1);
  });

  it('a restart within the quiet holds on', async () => {
    await setRules([nights]);
    await rig.publish('/news');
    await settle('held');
    await rig[Symbol.asyncDispose]();
    await start();
    await rig.publish('/news');
    await settle('after the restart');
    expect(texts()).not.toContain('news 1');
    await advanceTo('2026-06-02T05:00:00Z');
    await eventually(texts).toContain('news 2');
  });

  it('what could not be delivered before the quiet is held in it', async () => {
    await setRules([{ topics: '*', mode: 'normal', quiet: ['23:00-07:00'] }]);
    await rig[Symbol.asyncDispose]();
    clock = createFakeClock(Date.parse('2026-06-01T20:59:58Z'));
    await start();
    service.answers.push(503);
    await rig.publish('/news');
    await eventually(() => service.received).toHaveLength(1);
    await eventually(async () => (await rig.ask('GET', '/metrics')).text).toContain('outcome="retried"} 1');
    await advance(10_000);
    await eventually(async () => (await state()).held).toEqual([{ topic: 'news', messages: 1 }]);
    await advanceTo('2026-06-02T05:00:00Z');
    await eventually(texts).toContain('news 1');
    expect(service.received).toHaveLength(2);
  });

  it.each([
    ['the night summer time begins', '2026-03-29T00:30:00Z', '2026-03-29T04:59:59Z'],
    ['the night it ends', '2026-10-24T22:30:00Z', '2026-10-25T05:59:59Z'],
  ])('%s ends at the same time on the wall', async (_night, from, lastSecond) => {
    await rig[Symbol.asyncDispose]();
    clock = createFakeClock(Date.parse(from));
    await start();
    await subscribe(browser, ['news', 'alarms']);
    await setRules([nights]);
    await rig.publish('/news');
    await advanceTo(lastSecond);
    await settle('still quiet');
    expect(texts()).not.toContain('news 1');
    await advance(1000);
    await eventually(texts).toContain('news 1');
  });

  it('a clock that is set forward over the end is noticed, and one set back holds on', async () => {
    await setRules([nights]);
    await rig.publish('/news');
    await settle('held');
    clock.set(Date.parse('2026-05-30T21:00:00Z'));
    await advance(2 * minute);
    await settle('two days before');
    expect((await state()).held).toEqual([{ topic: 'news', messages: 1 }]);
    clock.set(Date.parse('2026-06-02T10:00:00Z'));
    await advance(minute);
    await eventually(texts).toContain('news 1');
  });
});

describe('an urgent message', () => {
  const urgent = { priority: '5', title: 'Fire' };
  const alarms = () => texts().filter((text) => text === 'smoke');
  const repeating = [{ ...nights, repeatMinutes: 5 }];
  /** Until the reminders of these minutes are out. */
  const passed = async (minutes: number, expected: number) => {
    await advance(minutes * minute);
    await eventually(alarms).toHaveLength(expected);
  };

  it('comes again until the notification is clicked, over a restart too', async () => {
    await setRules(repeating);
    await rig.publish('/alarms', 'smoke', urgent);
    await eventually(alarms).toHaveLength(1);
    await passed(5, 2);
    await rig[Symbol.asyncDispose]();
    await start();
    await passed(5, 3);
    const [first, , third] = got();
    expect(third).toEqual(first);
    expect((await state()).urgent).toMatchObject([{ topic: 'alarms', title: 'Fire', next: clock.now() + 5 * minute }]);
    // The worker has no session, only what came with the message.
    const answer = await fetch(`${rig.host.url('control')}/api/push/acknowledge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: third.acknowledge }),
    });
    expect(answer.status).toBe(200);
    expect((await state()).urgent).toEqual([]);
    await advance(10 * minute);
    await settle('later');
    expect(alarms()).toHaveLength(3);
  });

  it.each([
    ['read in the inbox', async () => api('PATCH', '/api/inbox', { ids: 'all', read: true })],
    ['put away in the inbox', async () => api('PATCH', '/api/inbox', { ids: 'all', done: true })],
    ['cleared', async () => rig.ask('PUT', '/alarms/fire/clear', { authorization: admin })],
    ['deleted', async () => rig.ask('DELETE', '/alarms/fire', { authorization: admin })],
    ['replaced by a lower one', async () => rig.publish('/alarms/fire', 'it is out', { priority: '3' })],
    ['made silent', async () => setRules([{ topics: 'alarms', mode: 'silent' }])],
  ])('comes no more once it was %s', async (_how, end) => {
    await setRules(repeating);
    await rig.publish('/alarms/fire', 'smoke', urgent);
    await eventually(async () => (await api('GET', '/api/inbox')).body.total).toBe(1);
    await eventually(alarms).toHaveLength(1);
    await passed(5, 2);
    await end();
    await eventually(async () => (await state()).urgent).toEqual([]);
    await setRules([]);
    await advance(10 * minute);
    await settle('later');
    expect(alarms()).toHaveLength(2);
  });

  it('comes once where no rule says more, and not for ever where one does', async () => {
    await rig.publish('/alarms', 'smoke', urgent);
    await eventually(alarms).toHaveLength(1);
    expect((await state()).urgent).toEqual([]);
    await setRules([{ ...nights, repeatMinutes: 720 }]);
    await rig.publish('/alarms', 'smoke', urgent);
    await eventually(alarms).toHaveLength(2);
    await passed(720, 3);
    await advance(720 * minute);
    await eventually(async () => (await state()).urgent).toEqual([]);
    expect(alarms()).toHaveLength(3);
  });

  it('waits no longer than its minutes after the clock was set back', async () => {
    await setRules(repeating);
    await rig.publish('/alarms', 'smoke', urgent);
    await eventually(alarms).toHaveLength(1);
    clock.set(clock.now() - 24 * 60 * minute);
    await advance(minute);
    await eventually(async () => (await state()).urgent[0]?.next).toBeLessThanOrEqual(clock.now() + 5 * minute);
    await passed(5, 2);
  });

  it('of a storm comes again for twenty of them, and every one once', async () => {
    await setRules(repeating);
    await Promise.all(Array.from({ length: 30 }, () => rig.publish('/alarms', 'smoke', urgent)));
    await eventually(alarms).toHaveLength(30);
    expect((await state()).urgent).toHaveLength(20);
    await passed(5, 50);
  });
});
