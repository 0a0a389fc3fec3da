import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pushDevicesChanged, type PushDevice } from '../../../services/contracts/push/devices.ts';
import { createFakeClock } from '../../support/clock.ts';
import { api } from '../../support/api.ts';
import { admin, openRig, type Rig } from './rig.ts';

const phone = '192.168.1.23';
const app = 'ntfy/1.16.0 (play; Android 16; SDK 36)';
const from = (address: string, userAgent = app): Record<string, string> => ({
  'X-Forwarded-For': address,
  'User-Agent': userAgent,
});

describe('devices of a topic', () => {
  const clock = createFakeClock();
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig({ clock, environment: { NTFY_BEHIND_PROXY: 'true' } });
    for (const name of ['grace', 'linus']) {
      const grants = [{ service: 'push', resource: 'house', permission: 'read' }];
      await request('POST', '/api/accounts', { name, password: 'harbour light', grants });
    }
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const toBasic = (name: string): string => `Basic ${Buffer.from(`${name}:harbour light`).toString('base64')}`;
  const request = (method: string, path: string, body?: unknown, authorization = admin): Promise<any> =>
    api(rig.host.url('control'), path, {
      method,
      headers: { Authorization: authorization },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const list = async (topic: string, authorization?: string): Promise<readonly PushDevice[]> =>
    (await request('GET', `/api/push/topics/${topic}/devices`, undefined, authorization)).devices;

  it('lists an open stream of another device until it closes, and reports both', async () => {
    const changes: number[] = [];
    using _subscription = rig.context.bus.subscribe(pushDevicesChanged, ({ time }) => void changes.push(time));
    const stream = await rig.listen('/stream/json', { authorization: admin, ...from(phone) });
    await expect
      .poll(() => list('stream'))
      .toMatchObject([{ connection: 'stream', address: phone, userAgent: app, account: 'admin', isConnected: true }]);
    clock.advance(500);
    await expect.poll(() => changes.length).toBe(1);
    stream[Symbol.dispose]();
    await expect.poll(async () => (await list('stream'))[0]?.isConnected).toBe(false);
    clock.advance(500);
    await expect.poll(() => changes.length).toBe(2);
    clock.advance(3_600_000);
    expect(await list('stream')).toEqual([]);
  });

  it('lists a device that requests new messages once, with its latest request', async () => {
    const poll = () => rig.ask('GET', '/poll/json?poll=1', { authorization: admin, ...from(phone) });
    await poll();
    clock.advance(60_000);
    await poll();
    await rig.ask('GET', '/poll/json?poll=1', { authorization: admin, ...from('192.168.1.24') });
    const devices = await list('poll');
    expect(devices.map(({ address, connection }) => [address, connection])).toEqual([
      ['192.168.1.24', 'poll'],
      [phone, 'poll'],
    ]);
    expect(devices[1]?.seenAt).toBe(clock.now());
  });

  it('leaves out programs on the computer of Homeport', async () => {
    await rig.ask('GET', '/local/json?poll=1', { authorization: admin });
    await rig.ask('GET', '/local/json?poll=1', { authorization: admin, ...from('127.0.0.1') });
    expect(await list('local')).toEqual([]);
  });

  it('shows an account its own devices only, and nothing without access to the topic', async () => {
    for (const name of ['grace', 'linus']) {
      await rig.ask('GET', '/house/json?poll=1', { authorization: toBasic(name), ...from(phone) });
    }
    expect((await list('house', toBasic('grace'))).map(({ account }) => account)).toEqual(['grace']);
    expect((await list('house')).map(({ account }) => account).toSorted()).toEqual(['grace', 'linus']);
    await expect(list('poll', toBasic('grace'))).rejects.toThrow('403');
  });

  it('does not show the devices of a deleted account to a later account of its name', async () => {
    const account = { name: 'edsger', password: 'harbour light', grants: [] };
    const grants = [{ service: 'push', resource: 'house', permission: 'read' }];
    await request('POST', '/api/accounts', { ...account, grants });
    await rig.ask('GET', '/house/json?poll=1', { authorization: toBasic('edsger'), ...from(phone) });
    expect(await list('house', toBasic('edsger'))).toHaveLength(1);
    await request('DELETE', '/api/accounts/edsger');
    await request('POST', '/api/accounts', { ...account, grants });
    await expect.poll(() => list('house', toBasic('edsger'))).toEqual([]);
  });
});
