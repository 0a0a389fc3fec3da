import { createECDH, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { admin, openRig, sendRaw } from './rig.ts';

it('keeps credentials, keys and browser endpoints out of the log, metrics and responses', async () => {
  // No server listens there.
  const vendor = 'http://127.0.0.1:9';
  await using rig = await openRig({
    environment: {
      LOG_LEVEL: 'debug',
      PUSH_WEB_PUSH_HOSTS: JSON.stringify([vendor]),
      NTFY_UPSTREAM_BASE_URL: 'http://127.0.0.1:9',
      NTFY_UPSTREAM_ACCESS_TOKEN: `tk_${'u'.repeat(29)}`,
      NTFY_BASE_URL: 'https://push.example',
    },
  });
  const grants = [{ service: 'push', resource: '*', permission: 'read-write' }] as const;
  await rig.context.accounts.create({ name: 'mia', password: 'hunter2-hunter2', grants });
  const basic = `Basic ${Buffer.from('mia:hunter2-hunter2').toString('base64')}`;
  const created = JSON.parse((await rig.ask('POST', '/v1/account/token', { authorization: basic }, '{}')).text);
  const token = String(created.token);
  const inQuery = Buffer.from(`Bearer ${token}`).toString('base64url');
  const endpoint = `${vendor}/send/${randomBytes(16).toString('hex')}`;
  const order = {
    endpoint,
    auth: randomBytes(16).toString('base64url'),
    p256dh: createECDH('prime256v1').generateKeys().toString('base64url'),
    topics: ['s'],
  };
  const responses: string[] = [];
  const sendRequest = async (...args: Parameters<typeof rig.ask>) => {
    const { text, headers } = await rig.ask(...args);
    responses.push(text, JSON.stringify(headers));
  };
  await sendRequest('POST', '/v1/webpush', { authorization: basic }, JSON.stringify(order));
  for (const [method, path, body] of [
    ['POST', '/s', 'm'],
    ['POST', '/s', Buffer.alloc(9000)],
    ['GET', '/s/json?poll=1', undefined],
    ['GET', '/s/nowhere', undefined],
    ['GET', '/s/json?poll=1&since=oops', undefined],
    ['GET', '/v1/users', undefined],
    ['POST', '/v1/account/password', '{"password":"hunter2-hunter3","new_password":"swordfish-otter-lantern"}'],
    ['POST', '/v1/users', '{"username":"jo","password":"swordfish-lantern-otter"}'],
    ['POST', '/_matrix/push/v1/notify', '{}'],
  ] as const) {
    await sendRequest(method, path, { authorization: basic }, body);
    await sendRequest(method, path, { authorization: `Bearer ${token}` }, body);
    await sendRequest(method, `${path}${path.includes('?') ? '&' : '?'}auth=${inQuery}`, {}, body);
    await sendRequest(method, path, { authorization: `${basic}x` }, body);
    await sendRequest(method, path, { authorization: `Bearer ${token.slice(0, -1)}` }, body);
  }
  responses.push(await sendRaw(rig.port, `GET /s?auth=${inQuery}\r\nAuthorization ${basic}\r\n\r\n`));
  responses.push(await sendRaw(rig.port, `GET /s HTTP/1.1\r\nAuthorization: ${basic}\r\nConnection: close\r\n\r\n`));
  const socket = new WebSocket(`ws://127.0.0.1:${String(rig.port)}/s/ws?auth=${inQuery}`);
  await new Promise((resolve) => socket.once('message', resolve));
  await rig.context.accounts.removeToken('mia', (await rig.context.accounts.tokens('mia'))[0]?.id ?? '');
  await expect.poll(() => socket.readyState).toBe(WebSocket.CLOSED);
  await expect.poll(() => rig.host.log.some((line) => line.includes('push.web-push'))).toBe(true);
  const metrics = await fetch(`${rig.host.url('control')}/metrics`, { headers: { authorization: admin } });
  responses.push(await metrics.text());

  const folder = join(rig.host.dataDir, 'logs');
  const logged = [...rig.host.log, ...listFiles(folder).map((file) => readFileSync(file, 'utf8'))].join('\n');
  // Each request has a log record.
  expect(logged).toContain('/v1/account/password');
  const outputs = [...logged.split('\n'), ...responses];
  for (const secret of [
    'hunter2',
    'swordfish',
    token,
    inQuery,
    basic.slice('Basic '.length),
    endpoint.slice(vendor.length),
    order.auth,
    'u'.repeat(29),
    'PRIVATE',
  ]) {
    const leaks = outputs.filter((text) => text.includes(secret));
    expect(leaks, secret).toEqual([]);
  }
});

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    // Covered elsewhere.
    return [];
  }
}
