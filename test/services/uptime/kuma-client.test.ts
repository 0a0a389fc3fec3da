import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { io } from 'socket.io-client';
import { expect, it } from 'vitest';
import { admin } from '../../support/host.ts';
import { listen, openTarget, openUptime } from './rig.ts';
import { needs } from '../../support/requirements.ts';

needs('uptime-kuma-api');

const client = fileURLToPath(new URL('../../../.cache/tools/uptime-kuma-api2', import.meta.url));
const script = fileURLToPath(new URL('kuma-client.py', import.meta.url));
const missing = !existsSync(client) && !process.env['CI'];

it.skipIf(missing)('supports the Python client of Uptime Kuma', async () => {
  await using rig = await openUptime();
  await using target = await openTarget();
  const folder = mkdtempSync(join(tmpdir(), 'engine-'));
  const socketPath = join(folder, 'docker.sock');
  const engine = createServer((_request, response) => void response.end('[]'));
  await listen(engine, { path: socketPath });
  try {
    const { stdout } = await promisify(execFile)(
      'python3',
      [script, rig.url, admin.name, admin.password, target.url, socketPath],
      { env: { ...process.env, PYTHONPATH: client, PYTHONDONTWRITEBYTECODE: '1' } },
    );
    expect(JSON.parse(stdout)).toEqual({
      needSetup: false,
      beforeLogin: 'You are not logged in.',
      wrong: 'authIncorrectCreds',
      version: '2.5.3',
      none: [],
      added: 'successAdded',
      monitor: { name: 'web', type: 'http', url: target.url, interval: 20, active: true, maxretries: 1 },
      edited: ['web two', 'secret', true],
      beats: [1, '200 - OK'],
      status: 1,
      important: 1,
      tags: [['site', 'main']],
      engine: 'Connected Successfully. Amount of containers: 0',
      hosts: ['here'],
      page: ['All of it', true],
      incident: 'Trouble',
      // In the hour of the maintenance its status differs.
      maintenance: ['recurring-weekday', expect.stringMatching(/^(scheduled|under-maintenance)$/), 3600, '0 2 * * 1,3'],
      covered: [[true], ['All of it']],
      window: ['inactive', 'successResumed', 'successDeleted'],
      key: 'uk',
      keys: ['prometheus'],
      paused: 'successPaused',
      active: false,
      settings: [7, 14, 21],
      deleted: 'successDeleted',
      left: ['job'],
      size: true,
      notifications: [['own', 'json://127.0.0.1:1/x']],
      notification: 'successDeleted',
      proxies: [['socks5', 1080, 'ada', true]],
      proxy: 'successDeleted',
      unknown: 'Homeport does not have this: testChrome',
      byToken: ['job'],
    });
  } finally {
    engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

it('responds to early calls and pushes heartbeats', async () => {
  await using rig = await openUptime();
  await using target = await openTarget();
  const socket = io(rig.url, { transports: ['websocket'], forceNew: true });
  try {
    const sendRequest = (event: string, ...args: unknown[]) => socket.emitWithAck(event, ...args) as Promise<unknown>;
    const lists: string[] = [];
    socket.onAny((event: string) => void lists.push(event));
    const response = await sendRequest('login', { username: admin.name, password: admin.password, token: '' });
    expect(response).toMatchObject({ ok: true, token: expect.any(String) });
    expect(lists).toContain('monitorList');
    const beat = new Promise((resolve) => socket.once('heartbeat', resolve));
    expect(await sendRequest('add', { name: 'x', type: 'http', accepted_statuscodes: [200] })).toEqual({
      ok: false,
      msg: 'Accepted status codes are not all strings',
    });
    const added = await sendRequest('add', {
      name: 'x',
      type: 'http',
      url: target.url,
      interval: 60,
      accepted_statuscodes: ['200'],
    });
    expect(added).toMatchObject({ ok: true, msg: 'successAdded', msgi18n: true, monitorID: 1 });
    expect(await beat).toMatchObject({ monitorID: 1, status: 1, msg: '200 - OK', important: true });
    await sendRequest('logout');
    expect(await sendRequest('getTags')).toEqual({ ok: false, msg: 'You are not logged in.' });
  } finally {
    socket.disconnect();
  }
});
