import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTcp } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, openTarget, openUptime, type UptimeRig } from './rig.ts';

let rig: UptimeRig;
beforeAll(async () => {
  rig = await openUptime();
});
afterAll(() => rig[Symbol.asyncDispose]());

describe('HTTP monitor', () => {
  it('notifies once of outage and recovery and stores the incident', async () => {
    await using target = await openTarget();
    const { id } = await rig.add({ type: 'http', name: 'web', url: target.url, interval: 0.3, timeout: 5 });
    await rig.until(id, 1);
    const [first] = await rig.beats(id);
    expect(first).toMatchObject({ monitorID: id, status: 1, msg: '200 - OK', important: true, retries: 0 });
    target.handler = (_request, response) => void response.writeHead(503).end();
    expect(await rig.until(id, 0)).toMatchObject({ msg: 'Request failed with status code 503' });
    const [down] = await rig.events('down', id);
    expect(down).toMatchObject({
      title: '[Down] web',
      type: 'failure',
      event: { monitorId: id, monitorName: 'web', monitorType: 'http', target: target.url, status: 0 },
    });
    expect(down?.event.id).toMatch(new RegExp(`^down:${String(id)}:\\d+$`));
    expect(await rig.call('GET', `/api/incidents?open=true&monitor=${String(id)}`)).toMatchObject({
      items: [{ monitorIds: [id], resolvedAt: null, cause: 'web: Request failed with status code 503' }],
    });
    target.handler = (_request, response) => void response.end('fine');
    const [up] = await rig.events('up', id);
    expect(up).toMatchObject({ title: '[Up] web', type: 'success', event: { downSeconds: expect.any(Number) } });
    expect(await rig.call('GET', `/api/incidents?open=true&monitor=${String(id)}`)).toMatchObject({ items: [] });
    expect(rig.sent.filter(({ event }) => event.monitorId === id)).toHaveLength(2);
    const important = await rig.call<{ items: { status: number }[] }>(
      'GET',
      `/api/monitors/${String(id)}/beats?important=true`,
    );
    expect(important.items.map(({ status }) => status)).toEqual([1, 0, 1]);
  });

  it('notifies of a first heartbeat only when it is down', async () => {
    const { id } = await rig.add({ type: 'http', name: 'closed', url: 'http://127.0.0.1:1/', interval: 60 });
    expect((await rig.events('down', id))[0]?.event['msg']).toBe('connect ECONNREFUSED 127.0.0.1:1');
  });

  it('retries the configured number of times', async () => {
    const { id } = await rig.add({
      ...{ type: 'http', name: 'tries', url: 'http://127.0.0.1:1/' },
      ...{ interval: 60, retryInterval: 0.2, maxretries: 2 },
    });
    await rig.until(id, 0);
    expect((await rig.beats(id)).map(({ status, retries }) => [status, retries])).toEqual([
      [2, 1],
      [2, 2],
      [0, 2],
    ]);
  });

  it('follows redirects without forwarding credentials and detects loops', async () => {
    await using end = await openTarget();
    await using start = await openTarget((request, response) => {
      response.writeHead(302, { location: request.url === '/round' ? '/round' : end.url }).end();
    });
    const common = { type: 'http', interval: 60, authMethod: 'basic', basic_auth_user: 'u', basic_auth_pass: 'p' };
    const redirectMonitor = await rig.add({ ...common, name: 'led', url: `${start.url}/` });
    await rig.until(redirectMonitor.id, 1);
    expect(start.requests[0]?.headers.authorization).toBe('Basic dTpw');
    expect(end.requests[0]?.headers.authorization).toBeUndefined();
    const round = await rig.add({ ...common, name: 'round', url: `${start.url}/round`, maxredirects: 3 });
    expect(await rig.until(round.id, 0)).toMatchObject({ msg: 'Maximum number of redirects exceeded' });
    const still = await rig.add({
      ...common,
      name: 'still',
      url: start.url,
      maxredirects: 0,
      accepted_statuscodes: ['302'],
    });
    await rig.until(still.id, 1);
  });

  it('limits the time and length of reading a body', async () => {
    await using slow = await openTarget((_request, response) => void response.write('x'));
    const keyword = { type: 'keyword', keyword: 'fine', interval: 60 };
    const waits = await rig.add({ ...keyword, name: 'slow', url: slow.url, timeout: 0.5 });
    expect(await rig.until(waits.id, 0)).toMatchObject({ msg: 'timeout of 500ms exceeded' });
    let sent = 0;
    await using long = await openTarget((_request, response) => {
      const more = (): void => {
        while (sent < 100_000_000 && !response.destroyed) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536, 'a'))) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const big = await rig.add({ ...keyword, name: 'long', url: long.url, timeout: 20 });
    expect((await rig.until(big.id, 0)).msg).toContain('but keyword is not in [aaa');
    expect(sent).toBeLessThan(50_000_000);
  });

  it('checks keywords and JSON queries, also endless ones', async () => {
    await using target = await openTarget((_request, response) => {
      response.end(JSON.stringify({ state: 'ok', list: [{ n: 3 }], long: 'a'.repeat(5000) }));
    });
    const monitor = await rig.add({ type: 'keyword', name: 'k', url: target.url, keyword: '"ok"', interval: 60 });
    expect(await rig.until(monitor.id, 1)).toMatchObject({ msg: '200 - OK, keyword is found' });
    const json = { type: 'json-query', url: target.url, interval: 60 };
    const plainMonitor = await rig.add({
      ...json,
      name: 'j',
      jsonPath: 'list[0].n',
      jsonPathOperator: '>',
      expectedValue: '2',
    });
    expect(await rig.until(plainMonitor.id, 1)).toMatchObject({ msg: 'JSON query passes (comparing 3 > 2)' });
    const sum = await rig.add({ ...json, name: 's', jsonPath: '$sum(list.n) + 1', expectedValue: '4' });
    await rig.until(sum.id, 1);
    const hostileQuery = '($f := function($n) { $n > 0 ? $f($n - 1) + $f($n - 1) : 1 }; $f(60))';
    const endless = await rig.add({ ...json, name: 'b', jsonPath: hostileQuery, expectedValue: '1' });
    expect((await rig.until(endless.id, 0)).msg).toBe('The JSON query took too long');
  });

  it('inverts the status in upside-down mode', async () => {
    const { id } = await rig.add({
      type: 'http',
      name: 'not',
      url: 'http://127.0.0.1:1/',
      upsideDown: true,
      interval: 60,
    });
    await rig.until(id, 1);
  });
});

it('checks a TCP port', async () => {
  const server = createTcp((socket) => socket.on('error', () => socket.destroy()));
  const port = await listen(server);
  const { id } = await rig.add({ type: 'port', name: 'tcp', hostname: 'localhost', port: String(port), interval: 0.3 });
  await rig.until(id, 1);
  await new Promise((resolve) => server.close(resolve));
  expect((await rig.until(id, 0)).msg).toContain('ECONNREFUSED');
});

describe('container monitor', () => {
  it('queries the engine like Uptime Kuma and detects a stop immediately', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'engine-'));
    const socketPath = join(folder, 'docker.sock');
    const requests: string[] = [];
    let state: Record<string, unknown> = { Running: true, Status: 'running' };
    let restarts = 0;
    const streams: ServerResponse[] = [];
    const engine = createServer((request, response) => {
      requests.push(request.url ?? '');
      if (request.url?.startsWith('/events') === true) {
        streams.push(response.writeHead(200));
        response.flushHeaders();
      } else if (request.url === '/containers/json?all=true') {
        response.end(
          JSON.stringify([
            { Id: 'abc', Names: ['/web'], Image: 'nginx', State: 'running', Status: 'Up 2 hours (healthy)' },
          ]),
        );
      } else if (request.url === '/containers/web/json') {
        response.end(JSON.stringify({ Id: 'abc', State: state, RestartCount: restarts }));
      } else response.writeHead(404).end('{}');
    });
    await listen(engine, { path: socketPath });
    const respond = (): void => {
      for (const stream of streams)
        stream.write('{"Type":"container","Action":"die","Actor":{"ID":"abc","Attributes":{"name":"web"}}}\n');
    };
    try {
      const where = { name: 'here', dockerType: 'socket', dockerDaemon: socketPath };
      expect(await rig.call('POST', '/api/docker-hosts/test', where)).toEqual({
        ok: true,
        count: 1,
        containers: [{ id: 'abc', name: 'web', image: 'nginx', state: 'running', health: 'healthy' }],
      });
      const { id: docker_host } = await rig.call<{ id: number }>('POST', '/api/docker-hosts', where);
      const common = { type: 'docker', docker_host, interval: 300 };
      const { id } = await rig.add({ ...common, name: 'container', docker_container: 'web' });
      expect((await rig.until(id, 1)).msg).toContain('currently running');
      await expect.poll(() => streams.length).toBe(1);
      state = { Running: false, Status: 'exited' };
      const before = Date.now();
      respond();
      expect(await rig.until(id, 0)).toMatchObject({ msg: 'Container State is exited' });
      const [event] = await rig.events('down', id);
      expect(Date.parse(String(event?.event['at'])) - before).toBeLessThan(common.interval * 1000);
      const walk: readonly [Record<string, unknown>, number, string][] = [
        [{ Running: true, Health: { Status: 'healthy' } }, 1, 'healthy'],
        [{ Running: true, Health: { Status: 'starting' } }, 2, 'starting'],
        [{ Running: true, Health: { Status: 'unhealthy' } }, 0, 'Container is unhealthy'],
        [{ Running: true, Health: { Status: '' } }, 1, 'Container has not reported health and is currently running.'],
        [{ Running: true, Paused: true }, 0, 'Container is in a paused state'],
        [{ Running: true, Restarting: true }, 2, 'Container is restarting'],
      ];
      for (const [next, status, msg] of walk) {
        state = next;
        expect(await rig.call('POST', `/api/monitors/${String(id)}/check`)).toMatchObject({ status, msg });
      }
      state = { Running: true, StartedAt: 'later' };
      restarts = 1;
      expect(await rig.call('POST', `/api/monitors/${String(id)}/check`)).toMatchObject({ status: 2 });
      const none = await rig.add({ ...common, name: 'no container', docker_container: 'nosuch' });
      expect(await rig.until(none.id, 0)).toMatchObject({ msg: 'Request failed with status code 404' });
      expect(requests).toContain('/containers/web/json');
    } finally {
      engine.closeAllConnections();
      engine.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('push monitor', () => {
  const push = async (token: string, query = '', method = 'GET') => {
    const reply = await fetch(`${rig.url}/api/push/${token}${query}`, { method });
    return { status: reply.status, body: method === 'HEAD' ? undefined : await reply.json() };
  };

  it('accepts any method and responds like Uptime Kuma', async () => {
    const { id } = await rig.add({
      type: 'push',
      name: 'job',
      pushToken: 'tok123',
      interval: 60,
      maxretries: 2,
      retryInterval: 60,
    });
    expect(await push('tok123', '?status=up&msg=done&ping=42')).toEqual({ status: 200, body: { ok: true } });
    expect(await push('tok123', '?ping=abc', 'POST')).toEqual({ status: 200, body: { ok: true } });
    expect((await push('tok123', '', 'HEAD')).status).toBe(200);
    for (let count = 0; count < 3; count += 1) await push('tok123', '?status=down', 'PUT');
    await push('tok123', '?status=ok');
    expect((await rig.beats(id)).map(({ status, msg, ping }) => [status, msg, ping])).toEqual([
      [1, 'done', 42],
      [1, 'OK', null],
      [1, 'OK', null],
      [2, 'OK', null],
      [2, 'OK', null],
      [0, 'OK', null],
      [0, 'OK', null],
    ]);
    expect(await push('tok123', '?ping=-1')).toEqual({
      status: 404,
      body: { ok: false, msg: 'Invalid ping value. Must be between 0 and 100000000000 ms.' },
    });
    const unknown = { status: 404, body: { ok: false, msg: 'Monitor not found or not active.' } };
    expect(await push('nosuch')).toEqual(unknown);
    await rig.call('POST', `/api/monitors/${String(id)}/pause`);
    expect(await push('tok123')).toEqual(unknown);
    expect((await rig.raw('POST', '/api/monitors', { type: 'push', name: 'same', pushToken: 'tok123' })).status).toBe(
      409,
    );
  });

  it('restarts its up time after a pause', async () => {
    const { id } = await rig.add({ type: 'push', name: 'rested', interval: 60, pushToken: 'tok456' });
    const since = async (): Promise<number | null> =>
      (await rig.call<{ state: { since: number | null } }>('GET', `/api/monitors/${String(id)}`)).state.since;
    await push('tok456');
    const first = await since();
    await push('tok456');
    expect(await since()).toBe(first);
    await rig.call('POST', `/api/monitors/${String(id)}/pause`);
    await rig.call('POST', `/api/monitors/${String(id)}/resume`);
    expect(await since()).toBeNull();
    await push('tok456');
    const secondInterval = await since();
    expect(secondInterval).toBeGreaterThan(first ?? Infinity);
    await push('tok456');
    expect(await since()).toBe(secondInterval);
  });

  it('is down without a push', async () => {
    const { id } = await rig.add({ type: 'push', name: 'quiet', interval: 0.2 });
    expect(await rig.until(id, 0)).toMatchObject({ msg: 'No heartbeat in the time window' });
  });
});

it('derives the status of a group from its members', async () => {
  await using target = await openTarget();
  const group = await rig.add({ type: 'group', name: 'all', interval: 60 });
  expect(await rig.until(group.id, 2)).toMatchObject({ msg: 'Group empty' });
  await rig.add({ type: 'http', name: 'member', url: target.url, interval: 0.3, parent: group.id });
  await rig.until(group.id, 1);
  target.handler = (_request, response) => void response.writeHead(500).end();
  expect(await rig.until(group.id, 0)).toMatchObject({ msg: 'Child monitors down: member' });
});

it('sends one notification for a host and its dependents', async () => {
  await using target = await openTarget();
  const base = await rig.add({ type: 'http', name: 'host', url: target.url, interval: 0.3, timeout: 5 });
  const above = await rig.add({
    type: 'http',
    name: 'guest',
    url: target.url,
    interval: 0.3,
    timeout: 5,
    dependsOn: [base.id],
  });
  await rig.until(base.id, 1);
  await rig.until(above.id, 1);
  target.handler = (_request, response) => void response.writeHead(500).end();
  await rig.events('down', base.id);
  await rig.until(above.id, 0);
  const { items } = await rig.call<{ items: { monitorIds: number[] }[] }>('GET', '/api/incidents?open=1&limit=10');
  expect(items.some(({ monitorIds }) => monitorIds.includes(base.id) && monitorIds.includes(above.id))).toBe(true);
  target.handler = (_request, response) => void response.end();
  await rig.events('up', base.id);
  await rig.until(above.id, 1);
  // Causes a separate outage, whose event would follow all events of the first one.
  await rig.call('PATCH', `/api/monitors/${String(above.id)}`, { dependsOn: null, url: 'http://127.0.0.1:1/' });
  const downEvents = await rig.events('down', above.id);
  expect(downEvents).toHaveLength(1);
  expect(downEvents[0]?.event['msg']).toContain('ECONNREFUSED');
});
