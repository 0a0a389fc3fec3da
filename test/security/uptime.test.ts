import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { adminAuthorization } from '../support/host.ts';
import { readDeclaredRoutes } from './declared-routes.ts';
import { openTarget, openUptime, type Target, type UptimeRig } from '../services/uptime/rig.ts';

let rig: UptimeRig;
let target: Target;
const basic = (name: string): string => `Basic ${Buffer.from(`${name}:correct horse battery`).toString('base64')}`;
beforeAll(async () => {
  target = await openTarget();
  rig = await openUptime();
  for (const [name, permission] of [
    ['reader', 'read'],
    ['writer', 'read-write'],
    ['nobody', undefined],
  ] as const) {
    const grants = permission === undefined ? [] : [{ service: 'uptime', resource: '*', permission }];
    const reply = await fetch(`${rig.host.url('control')}/api/accounts`, {
      method: 'POST',
      headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name, password: 'correct horse battery', kind: 'person', role: 'user', grants }),
    });
    expect([name, reply.status, reply.ok ? '' : await reply.text()]).toEqual([name, reply.ok ? reply.status : 201, '']);
  }
});
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  await target[Symbol.asyncDispose]();
});

describe('the list of addresses that a monitor may not reach', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://100.100.100.200/',
    'http://168.63.129.16/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[64:ff9b:1::a9fe:a9fe]/',
  ])('includes %s, also upside down', async (url) => {
    const { id } = await rig.add({ type: 'http', name: 'metadata', url, interval: 3600, upsideDown: true });
    expect((await rig.until(id, 0)).msg).toMatch(/link-local or cloud metadata/);
  });

  it.each([
    ['127.0.0.1', '/api/monitors'],
    ['localhost', '/api/monitors'],
    ['0.0.0.0', '/metrics'],
    ['[::ffff:127.0.0.1]', '/api/monitors'],
    ['2130706433', '/api/push/x'],
    ['127.1', '/?x=1'],
    ['[::ffff:7f00:1]', '/api/monitors'],
    ['[64:ff9b::7f00:1]', '/api/monitors'],
  ])('includes the listeners of Homeport, as %s%s', async (host, path) => {
    const url = `http://${host}:${String(rig.host.port('uptime'))}${path}`;
    const { id } = await rig.add({ type: 'http', name: 'own', url, interval: 3600, accepted_statuscodes: ['100-599'] });
    expect((await rig.until(id, 0)).msg).toContain('belongs to Homeport');
  });

  it('includes listeners of Homeport that a redirect leads to, while its first page can be watched', async () => {
    const serviceUrl = `http://127.0.0.1:${String(rig.host.port('uptime'))}`;
    target.handler = (_request, response) =>
      void response.writeHead(302, { Location: `${serviceUrl}/api/monitors` }).end();
    const { id } = await rig.add({ type: 'http', name: 'redirected', url: target.url, interval: 3600 });
    expect((await rig.until(id, 0)).msg).toContain('belongs to Homeport');
    target.handler = (_request, response) => void response.end('fine');
    const first = { type: 'http', name: 'first page', url: `${serviceUrl}/`, interval: 3600, maxredirects: 0 };
    const { id: page } = await rig.add({ ...first, accepted_statuscodes: ['200-399'] });
    await rig.until(page, 1);
    const port = { type: 'port', name: 'port', hostname: '127.0.0.1', port: rig.host.port('uptime'), interval: 3600 };
    const { id: tcp } = await rig.add(port);
    await rig.until(tcp, 1);
  });
});

describe('Credentials of a monitor', () => {
  const secrets = [
    'USERPW1',
    'QUERYTOKEN2',
    'HEADERTOKEN3',
    'BODYTOKEN4',
    'BASICPW5',
    'PUSHTOKEN6',
    'DBPW7',
    'MQTTPW8',
  ];
  const findLeakedSecrets = (text: string): readonly string[] => secrets.filter((secret) => text.includes(secret));
  let ids: number[];
  beforeAll(async () => {
    const address = `http://u:USERPW1@127.0.0.1:${String(target.port)}/?token=QUERYTOKEN2`;
    const list = [
      {
        ...{
          type: 'http',
          name: 'web',
          url: address,
          headers: '{"Authorization":"Bearer HEADERTOKEN3"}',
          method: 'POST',
        },
        ...{ body: '{"key":"BODYTOKEN4"}', authMethod: 'basic', basic_auth_user: 'u', basic_auth_pass: 'BASICPW5' },
      },
      { type: 'push', name: 'job', pushToken: 'PUSHTOKEN6' },
      { type: 'postgres', name: 'db', databaseConnectionString: 'postgres://u:DBPW7@127.0.0.1:1/x', timeout: 5 },
      { type: 'mqtt', name: 'mq', hostname: 'mqtt://u:MQTTPW8@127.0.0.1', port: 1, mqttTopic: 'a', timeout: 5 },
    ];
    ids = [];
    for (const monitor of list) ids.push((await rig.add({ ...monitor, interval: 3600 })).id);
    await vi.waitUntil(async () => (await rig.beats(ids[3] ?? 0)).length > 0);
  });

  it('are not shown to accounts that may only read', async () => {
    const authorization = basic('reader');
    const paths = ['/api/monitors', '/api/overview', '/metrics', '/api/export', '/api/report.csv', '/api/incidents'];
    const entry = ids.flatMap((id) =>
      ['', '/facts', '/beats', '/chart'].map((path) => `/api/monitors/${String(id)}${path}`),
    );
    for (const path of [...paths, ...entry]) {
      const reply = await rig.raw('GET', path, undefined, { authorization });
      expect([path, findLeakedSecrets(await reply.text())]).toEqual([path, []]);
    }
  });

  it('are not in exports, metrics, notifications and the log, also for administrators', async () => {
    for (const path of ['/api/export', '/metrics', '/api/overview']) {
      expect([path, findLeakedSecrets(await (await rig.raw('GET', path)).text())]).toEqual([path, []]);
    }
    // A notification about a monitor with a password was sent.
    await rig.events('down', ids[2] ?? 0);
    expect(findLeakedSecrets(JSON.stringify(rig.sent) + rig.host.log.join('\n'))).toEqual([]);
  });

  it('are shown to accounts that may change monitors, except passwords and tokens', async () => {
    const reply = await rig.raw('GET', `/api/monitors/${String(ids[0])}`, undefined, {
      authorization: basic('writer'),
    });
    expect(findLeakedSecrets(await reply.text())).toEqual(['USERPW1', 'QUERYTOKEN2', 'HEADERTOKEN3', 'BODYTOKEN4']);
  });

  it('are sealed at rest', () => {
    for (const file of ['db.sqlite', 'db.sqlite-wal']) {
      const bytes = readFileSync(join(rig.host.dataDir, 'uptime', file), 'latin1');
      expect([file, findLeakedSecrets(bytes)]).toEqual([file, []]);
    }
  });
});

const routes = (await readDeclaredRoutes()).filter(({ path }) => path.startsWith('/api/uptime/'));

describe('Access', () => {
  /** Creates a limited token of the administrator for each kind of grant on uptime. */
  const tokens: Record<string, string> = {};
  beforeAll(async () => {
    for (const [label, service, permission] of [
      ['token-reader', 'uptime', 'read'],
      ['token-writer', 'uptime', 'read-write'],
      ['token-other', 'push', 'read-write'],
    ] as const) {
      const reply = await fetch(`${rig.host.url('control')}/api/accounts/ada/tokens`, {
        method: 'POST',
        headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
        body: JSON.stringify({ label, scopes: [{ service, resource: '*', permission }] }),
      });
      tokens[label] = `Bearer ${((await reply.json()) as { readonly text: string }).text}`;
    }
  });

  it.each([
    ['anonymous', 'nothing'],
    ['nobody', 'nothing'],
    ['token-other', 'nothing'],
    ['reader', 'read'],
    ['token-reader', 'read'],
    ['writer', 'write'],
    ['token-writer', 'write'],
  ])('follows the grant on every route of its port: %s may %s', async (name, level) => {
    const authorization = name === 'anonymous' ? '' : (tokens[name] ?? basic(name));
    const wrong: string[] = [];
    for (const { access, method, path, takesBody } of routes) {
      const address = path.replace('/api/uptime', '/api').replace(/:\w+/g, 'nothing');
      const reply = await rig.raw(method, address, takesBody ? {} : undefined, { authorization });
      await reply.arrayBuffer();
      const needed = typeof access === 'object' ? access.permission : 'write';
      const allowed = level === 'write' || level === needed;
      const refusal = name === 'anonymous' ? 401 : 403;
      const isExpected = allowed ? reply.status !== 401 && reply.status !== 403 : reply.status === refusal;
      if (!isExpected || reply.status >= 500) wrong.push(`${method} ${address}: ${String(reply.status)}`);
    }
    expect(routes.length).toBeGreaterThan(40);
    expect(wrong).toEqual([]);
  });

  it('refuses encodings of a body that are unknown with 415', async () => {
    const reply = await rig.raw('POST', '/api/monitors', {}, { 'content-encoding': 'x' });
    expect(reply.status).toBe(415);
  });
});

describe('A status page that is not published', () => {
  let monitor: number;
  beforeAll(async () => {
    const added = await rig.add({ type: 'manual', name: 'HIDDENNAME', interval: 3600, manual_status: 1 });
    monitor = added.id;
    for (const slug of ['unpublished', 'shown']) {
      await rig.call('POST', '/api/status-pages', { slug, title: `${slug} title` });
      const publicGroupList = [{ name: 'Group', monitorList: [{ id: monitor }] }];
      await rig.call('PUT', `/api/status-pages/${slug}`, { published: slug === 'shown', publicGroupList });
    }
  });

  it.each([
    ['GET', '/status/SLUG'],
    ['GET', '/status/SLUG/rss'],
    ['GET', '/api/status-page/SLUG'],
    ['GET', '/api/status-page/heartbeat/SLUG'],
    ['GET', '/api/status-page/SLUG/manifest.json'],
    ['GET', '/api/status-page/SLUG/incident-history'],
    ['GET', '/api/status-page/SLUG/badge'],
    ['POST', '/status/SLUG/subscribe'],
    ['GET', '/status/SLUG/confirm?of=1.x'],
    ['POST', '/status/SLUG/unsubscribe?of=1.x'],
  ])('is indistinguishable from a missing one for visitors: %s %s', async (method, path) => {
    const visit = async (slug: string): Promise<readonly [number, string]> => {
      const reply = await fetch(rig.url + path.replace('SLUG', slug), {
        method,
        ...(method === 'POST' ? { body: new URLSearchParams({ mail: 'a@b.example' }) } : {}),
      });
      return [reply.status, (await reply.text()).replaceAll(slug, 'SLUG')];
    };
    const missing = await visit('missing');
    expect(await visit('unpublished')).toEqual(missing);
    if (method === 'GET' && !path.includes('confirm')) expect(await visit('shown')).not.toEqual(missing);
  });

  it('shows no badge of its monitors', async () => {
    const badge = async (id: number): Promise<string> =>
      (await fetch(`${rig.url}/api/badge/${String(id)}/status`)).text();
    expect(await badge(monitor)).not.toBe(await badge(99_999));
    await rig.call('PUT', '/api/status-pages/shown', { publicGroupList: [] });
    expect(await badge(monitor)).toBe(await badge(99_999));
  });
});
