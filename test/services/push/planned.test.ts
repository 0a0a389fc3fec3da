import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pushDelayedChanged, type DelayedMessage } from '../../../services/contracts/push/delayed.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { api } from '../../support/api.ts';
import { admin, openRig, type Rig } from './rig.ts';

/** Allows for a busy computer. */
const eventually: typeof expect.poll = (get, options) => expect.poll(get, { timeout: 20_000, ...options });

interface DelayedList {
  readonly messages: readonly DelayedMessage[];
  readonly next: string | null;
  readonly total: number;
}

const secondMs = 1000;
/** Credentials for the push server and for the app API. */
const toBasic = (name: string): { readonly authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${name}:harbour light`).toString('base64')}`,
});

describe('delayed messages', () => {
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
  const list = (as = { authorization: admin }, query = ''): Promise<DelayedList> =>
    call('GET', `/api/push/planned${query}`, undefined, as);

  it('are listed for their account and all for an administrator, next first', async () => {
    await rig.publish('/ada-late', 'second', { ...toBasic('ada'), In: '2h', Title: 'T', Tags: 'a,b', Priority: '4' });
    await rig.publish('/ada-soon', 'first', { ...toBasic('ada'), In: '1h' });
    await rig.publish('/grace-x', 'hers', { ...toBasic('grace'), In: '90m' });
    await call('POST', '/api/push/messages', { topic: 'hall', message: 'from the page', delay: '3h' });
    const allMessages = await list();
    expect(allMessages.messages.map(({ message }) => message)).toEqual(['first', 'hers', 'second', 'from the page']);
    expect(allMessages.messages.map(({ account }) => account)).toEqual(['ada', 'grace', 'ada', 'admin']);
    expect(allMessages).toMatchObject({ next: null, total: 4 });
    const ownMessages = await list(toBasic('ada'));
    expect(ownMessages.messages.map(({ message }) => message)).toEqual(['first', 'second']);
    expect(ownMessages.total).toBe(2);
    expect(ownMessages.messages[1]).toMatchObject({
      topic: 'ada-late',
      title: 'T',
      tags: ['a', 'b'],
      priority: 4,
      due: clock.now() + 7200 * secondMs,
    });
    const paged: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page: DelayedList = await list(undefined, `?limit=1${next && `&after=${next}`}`);
      paged.push(...page.messages.map(({ message }) => message));
      next = page.next;
    }
    expect(paged).toEqual(['first', 'hers', 'second', 'from the page']);
  });

  it('are rescheduled and published at the new time, with full retention', async () => {
    const { id } = await rig.publish('/ada-move', 'moved', { ...toBasic('ada'), In: '1h', Expire: '10m' });
    const moved = await call('PATCH', `/api/push/planned/${id}`, { at: '20m' }, toBasic('ada'));
    expect(moved.due).toBe(clock.now() + 1200 * secondMs);
    using stream = await rig.listen('/ada-move/json');
    clock.advance(1199 * secondMs);
    await rig.publish('/ada-move', 'before');
    await eventually(() => stream.messages).toHaveLength(1);
    clock.advance(secondMs);
    await eventually(() => stream.messages.slice(1)).toMatchObject([{ id, message: 'moved' }]);
    const [, { time, expires }] = stream.messages;
    expect([time * 1000, expires - time]).toEqual([moved.due, 600]);
  });

  it('are published immediately under the same id with the current time, also to the inbox', async () => {
    const { id } = await rig.publish('/ada-now', 'hurried', { ...toBasic('ada'), In: '5h' });
    await call('POST', `/api/push/planned/${id}/publish`, undefined, toBasic('ada'));
    const nowSeconds = clock.now() / 1000;
    expect(await rig.poll('/ada-now/json?poll=1&scheduled=1')).toMatchObject([
      { id, message: 'hurried', time: nowSeconds, expires: nowSeconds + 12 * 3600 },
    ]);
    const listInbox = async (): Promise<unknown> => (await call('GET', '/api/inbox')).items;
    await eventually(listInbox).toContainEqual(
      expect.objectContaining({ topic: 'ada-now', time: nowSeconds * secondMs }),
    );
    expect(await fault('POST', `/api/push/planned/${id}/publish`, undefined, toBasic('ada'))).toContain('404');
  });

  it('are cancelled with their file', async () => {
    const headers = { ...toBasic('ada'), In: '10m', Filename: 'a.txt' };
    const { id, attachment } = await rig.publish('/ada-back', 'file', headers);
    expect((await list(toBasic('ada'))).messages).toContainEqual(expect.objectContaining({ id, attachment: 'a.txt' }));
    await call('DELETE', `/api/push/planned/${id}`, undefined, toBasic('ada'));
    expect((await rig.ask('GET', new URL(attachment.url).pathname)).status).toBe(404);
    clock.advance(700 * secondMs);
    await rig.publish('/ada-back', 'end');
    expect(await rig.poll('/ada-back/json?poll=1&scheduled=1')).toHaveLength(1);
    expect(await fault('DELETE', `/api/push/planned/${id}`)).toContain('404');
  });

  it('are protected from other accounts, missing permissions and invalid times', async () => {
    const { id } = await rig.publish('/grace-own', 'hers', { ...toBasic('grace'), In: '1h' });
    for (const [method, path, body] of [
      ['PATCH', '', { at: '2h' }],
      ['POST', '/publish', undefined],
      ['DELETE', '', undefined],
    ] as const) {
      expect(await fault(method, `/api/push/planned/${id}${path}`, body, toBasic('ada'))).toContain('404');
    }
    expect(await fault('PATCH', `/api/push/planned/${id}`, { at: 'some day' })).toContain('"at"');
    expect(await fault('PATCH', `/api/push/planned/${id}`, { at: '90 days' })).toContain('422');
    const filed = await rig.publish('/grace-own', 'f', { ...toBasic('grace'), In: '1h', Filename: 'b.txt' });
    expect(await fault('PATCH', `/api/push/planned/${filed.id}`, { at: '50h' })).toContain('file');
    await call('PATCH', '/api/accounts/grace', { grants: [] });
    expect(await fault('POST', `/api/push/planned/${id}/publish`, undefined, toBasic('grace'))).toContain('403');
    expect(await fault('PATCH', `/api/push/planned/${id}`, { at: '2h' }, toBasic('grace'))).toContain('403');
    await call('DELETE', `/api/push/planned/${id}`, undefined, toBasic('grace'));
    const anonymous = await fetch(`${base}/api/push/planned`);
    expect(anonymous.status).toBe(401);
  });

  it('keeps planned messages of a deleted account for administrators', async () => {
    await call('POST', '/api/accounts', {
      name: 'gone',
      password: 'harbour light',
      grants: [{ service: 'push', resource: 'gone', permission: 'write' }],
    });
    const { id } = await rig.publish('/gone', 'orphan', { ...toBasic('gone'), In: '2h' });
    await call('DELETE', '/api/accounts/gone');
    const account = async (): Promise<unknown> => (await list()).messages.find((message) => message.id === id)?.account;
    await eventually(account).toBeNull();
  });

  it('notifies pages once for several changes', async () => {
    const events: number[] = [];
    using _listening = rig.context.bus.subscribe(pushDelayedChanged, ({ time }) => void events.push(time));
    for (let count = 0; count < 5; count += 1) await rig.publish('/told', 'x', { In: '1h' });
    clock.advance(500);
    await eventually(() => events).toHaveLength(1);
  });
});
