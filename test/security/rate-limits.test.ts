import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { git } from '../../services/git/index.ts';
import { mail } from '../../services/mail/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { openHome } from '../support/gateway/phone.ts';
import { openTestHost, type TestHost } from '../support/host.ts';

let host: TestHost;
beforeAll(async () => {
  const environment = {
    NTFY_VISITOR_REQUEST_LIMIT_BURST: '3',
    NTFY_VISITOR_REQUEST_LIMIT_REPLENISH: '1h',
    NTFY_VISITOR_REQUEST_LIMIT_EXEMPT_HOSTS: '203.0.113.0/24',
  };
  host = await openTestHost({ services: [control, git, mail, push], environment });
});
afterAll(() => host[Symbol.asyncDispose]());

const lines = (): readonly string[] => host.log.filter((line) => line.includes('event=rate_limited '));

describe('a rate limit', () => {
  it('records the request that it refuses, without its query', async () => {
    const statuses: number[] = [];
    for (let request = 0; request < 5; request += 1) {
      statuses.push((await fetch(`${host.url('push')}/alerts/json?poll=1&auth=secret`)).status);
    }
    expect(statuses.at(-1)).toBe(429);
    expect(lines().at(-1)).toMatch(/address=127\.0\.0\.1 target=push account=- detail="GET \/alerts\/json"/);
    expect(host.log.join('\n')).not.toContain('auth=secret');
  });

  it('records the WebSocket that it refuses', async () => {
    const socket = new WebSocket(`${host.url('push').replace('http', 'ws')}/alerts/ws`);
    await once(socket, 'error');
    expect(lines().at(-1)).toMatch(/address=127\.0\.0\.1 target=push account=- detail=WebSocket/);
  });

  it('records the mail connection that it refuses', async () => {
    await fetch(`${host.url('control')}/api/session`);
    const sockets = Array.from({ length: 60 }, () => connect(host.port('mail'), '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => undefined);
    await vi.waitUntil(() => lines().some((line) => line.includes('target=mail')));
    for (const socket of sockets) socket.destroy();
  });

  it('records the SSH connection that it refuses', async () => {
    const repository = await api<{ ssh_url: string }>(host.url('git'), '/api/v1/user/repos', {
      method: 'POST',
      body: JSON.stringify({ name: 'demo' }),
    });
    const port = Number(new URL(repository.ssh_url).port);
    const sockets = Array.from({ length: 201 }, () => connect(port, '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => undefined);
    await vi.waitUntil(() => lines().some((line) => line.includes('detail="SSH connection"')), 10_000);
    expect(lines().at(-1)).toMatch(/address=127\.0\.0\.1 target=git account=-/);
    for (const socket of sockets) socket.destroy();
  });

  it('records a request once that the gateway passes on', async () => {
    const environment = {
      GATEWAY_SHARED: 'push',
      NTFY_VISITOR_REQUEST_LIMIT_BURST: '2',
      NTFY_VISITOR_REQUEST_LIMIT_REPLENISH: '1h',
      NTFY_VISITOR_REQUEST_LIMIT_EXEMPT_HOSTS: '203.0.113.0/24',
    };
    await using home = await openHome({ services: [control, gateway, push], environment });
    let last = 0;
    for (let request = 0; request < 3; request += 1) {
      last = (await home.ask('https://push.nas.local/alerts/json?poll=1')).status;
    }
    expect(last).toBe(429);
    const refusals = home.host.log.filter((line) => line.includes('event=rate_limited '));
    expect(refusals).toEqual([expect.stringContaining('target=push')]);
  });

  it('does not record a blocked sign-in at the gateway as a further refusal', async () => {
    await using home = await openHome({ services: [control, gateway, push], environment: { GATEWAY_SHARED: 'push' } });
    let last = 0;
    for (let attempt = 0; attempt < 15 && last !== 429; attempt += 1) {
      const authorization = `Basic ${Buffer.from(`ada:wrong ${String(attempt)}`).toString('base64')}`;
      last = (await home.ask('https://push.nas.local/alerts/json?poll=1', { headers: { authorization } })).status;
    }
    expect(last).toBe(429);
    expect(home.host.log.filter((line) => line.includes('event=sign_in_blocked '))).toHaveLength(1);
    expect(home.host.log.filter((line) => line.includes('event=rate_limited '))).toEqual([]);
  });
});
