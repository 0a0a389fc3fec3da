import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pushPlanned, type PlannedMessage } from '../../../services/contracts/push/delayed.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { api } from '../../support/api.ts';
import { admin, openRig, type Rig } from './rig.ts';

/** What comes about soon, also on a machine that has much else to do. */
const eventually: typeof expect.poll = (get, options) => expect.poll(get, { timeout: 20_000, ...options });

interface List {
  readonly messages: readonly PlannedMessage[];
  readonly next: string | null;
  readonly total: number;
}

const second = 1000;
/** For a client of the push server, and for our API. */
const basic = (name: string): { readonly authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${name}:harbour light`).toString('base64')}`,
});

describe('messages that wait', () => {
  let clock: FakeClock;
  let rig: Rig;
  let base: string;
  beforeAll(async () => {
    clock = createFakeClock();
    rig = await openRig({ clock });
    base = rig.host.url('control');
    for (const name of ['ada', 'grace']) {
      await call('POST', '/api/accounts', {
        name,
        password: 'harbour light',
        grants: [{ service: 'push', resource: `${name}-*`, permission: 'read-write' }],
      });
    }
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const call = (method: string, path: string, body?: unknown, as = { authorization: admin }): Promise<any> =>
    api(base, path, {
      method,
      headers: { Authorization: as.authorization },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const fault = (...[method, path, body, as]: Parameters<typeof call>): Promise<string> =>
    call(method, path, body, as).then(String, (error: Error) => error.message);
  const list = (as = { authorization: admin }, query = ''): Promise<List> =>
    call('GET', `/api/push/planned${query}`, undefined, as);

  it('lists the own ones to a person and all of them to an administrator, the next one first', async () => {
    await rig.publish('/ada-late', 'second', { ...basic('ada'), In: '2h', Title: 'T', Tags: 'a,b', Priority: '4' });
    await rig.publish('/ada-soon', 'first', { ...basic('ada'), In: '1h' });
    await rig.publish('/grace-x', 'hers', { ...basic('grace'), In: '90m' });
    await call('POST', '/api/push/messages', { topic: 'hall', message: 'from the page', delay: '3h' });
    const all = await list();
    expect(all.messages.map(({ message }) => message)).toEqual(['first', 'hers', 'second', 'from the page']);
    expect(all.messages.map(({ account }) => account)).toEqual(['ada', 'grace', 'ada', 'admin']);
    expect(all).toMatchObject({ next: null, total: 4 });
    const own = await list(basic('ada'));
    expect(own.messages.map(({ message }) => message)).toEqual(['first', 'second']);
    expect(own.total).toBe(2);
    expect(own.messages[1]).toMatchObject({
      topic: 'ada-late',
      title: 'T',
      tags: ['a', 'b'],
      priority: 4,
      due: clock.now() + 7200 * second,
    });
    const paged: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page: List = await list(undefined, `?limit=1${next && `&after=${next}`}`);
      paged.push(...page.messages.map(({ message }) => message));
      next = page.next;
    }
    expect(paged).toEqual(['first', 'hers', 'second', 'from the page']);
  });

  it('moves one, so that it goes out then and not before, and is kept as long as asked for', async () => {
    const { id } = await rig.publish('/ada-move', 'moved', { ...basic('ada'), In: '1h', Expire: '10m' });
    const moved = await call('PATCH', `/api/push/planned/${id}`, { at: '20m' }, basic('ada'));
    expect(moved.due).toBe(clock.now() + 1200 * second);
    using stream = await rig.listen('/ada-move/json');
    clock.advance(1199 * second);
    await rig.publish('/ada-move', 'before');
    await eventually(() => stream.messages).toHaveLength(1);
    clock.advance(second);
    await eventually(() => stream.messages.slice(1)).toMatchObject([{ id, message: 'moved' }]);
    const [, { time, expires }] = stream.messages;
    expect([time * 1000, expires - time]).toEqual([moved.due, 600]);
  });

  it('publishes one at once, under its id and with the time it is now, also to the inbox', async () => {
    const { id } = await rig.publish('/ada-now', 'hurried', { ...basic('ada'), In: '5h' });
    await call('POST', `/api/push/planned/${id}/publish`, undefined, basic('ada'));
    const now = clock.now() / 1000;
    expect(await rig.poll('/ada-now/json?poll=1&scheduled=1')).toMatchObject([
      { id, message: 'hurried', time: now, expires: now + 12 * 3600 },
    ]);
    const inboxed = async (): Promise<unknown> => (await call('GET', '/api/inbox')).items;
    await eventually(inboxed).toContainEqual(expect.objectContaining({ topic: 'ada-now', time: now * second }));
    expect(await fault('POST', `/api/push/planned/${id}/publish`, undefined, basic('ada'))).toContain('404');
  });

  it('takes one back with its file', async () => {
    const headers = { ...basic('ada'), In: '10m', Filename: 'a.txt' };
    const { id, attachment } = await rig.publish('/ada-back', 'file', headers);
    expect((await list(basic('ada'))).messages).toContainEqual(expect.objectContaining({ id, attachment: 'a.txt' }));
    await call('DELETE', `/api/push/planned/${id}`, undefined, basic('ada'));
    expect((await rig.ask('GET', new URL(attachment.url).pathname)).status).toBe(404);
    clock.advance(700 * second);
    await rig.publish('/ada-back', 'end');
    expect(await rig.poll('/ada-back/json?poll=1&scheduled=1')).toHaveLength(1);
    expect(await fault('DELETE', `/api/push/planned/${id}`)).toContain('404');
  });

  it('refuses what is not theirs, what may not be published any more, and times that cannot be', async () => {
    const { id } = await rig.publish('/grace-own', 'hers', { ...basic('grace'), In: '1h' });
    for (const [method, path, body] of [
      ['PATCH', '', { at: '2h' }],
      ['POST', '/publish', undefined],
      ['DELETE', '', undefined],
    ] as const) {
      expect(await fault(method, `/api/push/planned/${id}${path}`, body, basic('ada'))).toContain('404');
    }
    expect(await fault('PATCH', `/api/push/planned/${id}`, { at: 'some day' })).toContain('"at"');
    expect(await fault('PATCH', `/api/push/planned/${id}`, { at: '90 days' })).toContain('422');
    const filed = await rig.publish('/grace-own', 'f', { ...basic('grace'), In: '1h', Filename: 'b.txt' });
    expect(await fault('PATCH', `/api/push/planned/${filed.id}`, { at: '50h' })).toContain('file');
    await call('PATCH', '/api/accounts/grace', { grants: [] });
    expect(await fault('POST', `/api/push/planned/${id}/publish`, undefined, basic('grace'))).toContain('403');
    expect(await fault('PATCH', `/api/push/planned/${id}`, { at: '2h' }, basic('grace'))).toContain('403');
    await call('DELETE', `/api/push/planned/${id}`, undefined, basic('grace'));
    const anonymous = await fetch(`${base}/api/push/planned`);
    expect(anonymous.status).toBe(401);
  });

  it('leaves what an account planned to administrators once the account is gone', async () => {
    await call('POST', '/api/accounts', {
      name: 'gone',
      password: 'harbour light',
      grants: [{ service: 'push', resource: 'gone', permission: 'write' }],
    });
    const { id } = await rig.publish('/gone', 'orphan', { ...basic('gone'), In: '2h' });
    await call('DELETE', '/api/accounts/gone');
    const account = async (): Promise<unknown> => (await list()).messages.find((message) => message.id === id)?.account;
    await eventually(account).toBeNull();
  });

  it('tells the pages once, however much changes', async () => {
    const told: number[] = [];
    using _listening = rig.context.bus.subscribe(pushPlanned, ({ time }) => void told.push(time));
    for (let count = 0; count < 5; count += 1) await rig.publish('/told', 'x', { In: '1h' });
    clock.advance(500);
    await eventually(() => told).toHaveLength(1);
  });
});
