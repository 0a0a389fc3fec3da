import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as send, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { restoreBackup } from '../../main/host/backup/restore.ts';
import { helpText, parseCommandLine } from '../../main/host/cli/command-line.ts';
import { buildConfigurationPage } from '../../main/host/config/documentation.ts';
import { registry } from '../../main/host/services/registry.ts';
import type { DispatchContext } from '../../services/contracts/dispatch.ts';
import { defineService } from '../../services/contracts/service.ts';
import { control } from '../../services/control/index.ts';
import { openEvents } from '../services/control/event-stream.ts';
import { api } from '../support/api.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { harbour } from '../support/harbour-service/index.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';

/** Hands each request to the service that its path names, as a gateway does. */
const gate = defineService<any, DispatchContext>({
  ...fixtureService('gate'),
  capabilities: ['dispatch'],
  create(context) {
    const target = ({ url = '' }: IncomingMessage) => context.dispatch(url.split('/')[1] ?? '');
    return {
      http(request, response) {
        const destination = target(request);
        if (destination === undefined) response.writeHead(502).end();
        else destination.request(request, response);
      },
      upgrade(request, socket, head) {
        target(request)?.upgrade(request, socket, head);
      },
      async start() {
        context.hosts.add(['gate.test']);
      },
      health: () => Promise.resolve({ state: 'up', detail: '' }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  },
});

/** The one line. */
const services = [...registry, harbour, gate];

let host: TestHost;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-harbour-'));
  const tide = join(folder, 'tide');
  writeFileSync(tide, '#!/bin/sh\necho "tide 4.2"\n');
  chmodSync(tide, 0o755);
  host = await openTestHost({
    services,
    environment: {
      TIDE_PATH: tide,
      HOMEPORT_TRUSTED_PROXIES: '127.0.0.1',
      HOMEPORT_BACKUP_FOLDER: join(folder, 'backups'),
    },
  });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function sendRequest(
  service: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number | undefined; body: any }> {
  const clientRequest = send(`${host.url(service)}${path}`, { headers }).end();
  const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
  const isJson = response.headers['content-type']?.includes('json') === true;
  return { status: response.statusCode, body: isJson ? await json(response) : await text(response) };
}

describe('a service added by its folder and one registry line', () => {
  it('answers on both listeners and is listed with them', async () => {
    expect((await sendRequest('harbour', '/', {})).status).toBe(200);
    expect(await text(connect(host.port('harbour.radio'), '127.0.0.1'))).toBe('ahoy\r\n');
    const { services: listed } = await api<any>(host.url('control'), '/api/services');
    expect(listed.find(({ id }: any) => id === 'harbour')).toMatchObject({ state: 'up', group: 'data' });
  });

  it('lists its engine on the Engines page and in settings, help and documentation', async () => {
    const { engines } = await api<any>(host.url('control'), '/api/engines');
    expect(engines.find(({ name }: any) => name === 'tide')).toMatchObject({
      ...{ version: '4.2', source: 'setting', purpose: 'Tells the water.', installable: false, configured: true },
    });
    expect(parseCommandLine(['engines', 'remove', 'tide'], services)).toMatchObject({ engine: 'tide' });
    expect(parseCommandLine(['engines', 'remove', 'tide'], registry)).toMatchObject({ name: 'invalid' });
    expect(buildConfigurationPage(services, helpText(services))).toMatch(/`tidePath` \| text \| – \| `TIDE_PATH`/);
  });

  it('sends its live topic only to permitted accounts', async () => {
    const account = { name: 'bob', password: 'long enough' };
    await api(host.url('control'), '/api/accounts', { method: 'POST', body: JSON.stringify(account) });
    const bob = `Basic ${Buffer.from('bob:long enough').toString('base64')}`;
    await using events = await openEvents(host.url('control'), { headers: { Authorization: adminAuthorization } });
    await using unheard = await openEvents(host.url('control'), { headers: { Authorization: bob } });
    const seen: string[] = [];
    void (async () => {
      for (let event = await unheard.next(); event !== undefined; event = await unheard.next()) seen.push(event.event);
    })().catch(() => seen.push('ended'));
    await sendRequest('harbour', '/?ship=Aurora', {});
    let event = await events.next();
    while (event !== undefined && event.event !== 'harbour.ship') event = await events.next();
    expect(event?.data).toEqual({ name: 'Aurora' });
    // The event for all accounts follows, so bob's event has arrived by then.
    await api(host.url('control'), '/api/services/gate/restart', { method: 'POST' });
    await vi.waitFor(() => expect(seen).toContain('control.service'), { timeout: 15_000 });
    expect(seen).not.toContain('harbour.ship');
  });

  it('creates its predefined account as disabled', async () => {
    const { accounts } = await api<any>(host.url('control'), '/api/accounts');
    expect(accounts.find(({ name }: any) => name === 'pilot')).toMatchObject({
      ...{ kind: 'service', enabled: false, description: 'Brings ships in.' },
      grants: [{ service: 'harbour', resource: 'basin-*', permission: 'write' }],
    });
  });

  it('accepts the host names it adds and rejects others', async () => {
    expect((await sendRequest('harbour', '/', { Host: 'harbour.test' })).body.publicUrl).toBe('http://harbour.test');
    expect((await sendRequest('harbour', '/', { Host: 'elsewhere.test' })).status).toBe(403);
    expect((await sendRequest('push', '/v1/health', { Host: 'harbour.test' })).status).toBe(403);
  });

  it('serves its own page to visitors by address and by host name', async () => {
    const page = '<h1>Ships today</h1>';
    const timetable = await fetch(`${host.url('harbour')}/timetable`);
    expect([timetable.status, timetable.headers.get('content-security-policy')]).toEqual([200, "default-src 'none'"]);
    expect(await timetable.text()).toContain(page);
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      send(`${host.url('harbour')}/timetable`, { headers: { Host: 'harbour.test' } }, resolve)
        .on('error', reject)
        .end(),
    );
    expect(await text(response)).toContain(page);
  });

  it('reads the public address and the client from a trusted proxy', async () => {
    const headers = {
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'harbour.example',
      'X-Forwarded-For': '203.0.113.9, 198.51.100.7',
    };
    expect((await sendRequest('harbour', '/', headers)).body).toMatchObject({
      ...{ publicUrl: 'https://harbour.example', from: '198.51.100.7' },
    });
  });

  it('ignores forwarding headers of untrusted clients', async () => {
    await using other = await openTestHost({ services: [harbour, control] });
    const headers = {
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'evil.example',
      'X-Forwarded-For': '203.0.113.9',
    };
    const body = await (await fetch(other.url('harbour'), { headers })).json();
    expect(body).toMatchObject({ publicUrl: other.url('harbour'), from: '127.0.0.1' });
  });

  it('answers through another service with its own guard, log and metrics', async () => {
    const before = await counted();
    const { status, body } = await sendRequest('gate', '/harbour/x', { Host: 'gate.test' });
    expect([status, body.publicUrl]).toEqual([200, 'http://gate.test']);
    expect(await counted()).toBe(before + 1);
    // The listener's guard refuses pages of other origins without a credential, and other host names.
    const foreign = { Host: 'gate.test', Origin: 'https://evil.example' };
    const clientRequest = send(`${host.url('gate')}/harbour/x`, { method: 'POST', headers: foreign }).end();
    const [refused] = (await once(clientRequest, 'response')) as [IncomingMessage];
    expect(refused.statusCode).toBe(403);
    expect((await sendRequest('gate', '/gate/x', {})).status).toBe(502);
    expect((await sendRequest('gate', '/mail/x', {})).status).toBe(502);
  });

  it('accepts an upgrade through another service', async () => {
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket' };
    const clientRequest = send(`${host.url('gate')}/harbour/x`, { headers }).end();
    const [response] = (await once(clientRequest, 'upgrade')) as [IncomingMessage];
    expect(response.statusCode).toBe(101);
  });

  it('is backed up by its own function and restored before it starts', async () => {
    const { name } = await api<any>(host.url('control'), '/api/backups', { method: 'POST' });
    const dataDir = join(folder, 'restored');
    mkdirSync(dataDir);
    await restoreBackup(dataDir, join(folder, 'backups', name), { force: false });
    expect(existsSync(join(dataDir, 'harbour', 'log'))).toBe(false);
    await using _restored = await openTestHost({ dataDir, services: [harbour, control] });
    expect(readFileSync(join(dataDir, 'harbour', 'log'), 'utf8')).toBe('opened, saved wholeopened');
    expect(existsSync(join(dataDir, 'harbour', '.backup'))).toBe(false);
  });

  it('ends its child process when it stops', async () => {
    const { crane } = (await sendRequest('harbour', '/', {})).body;
    expect(() => process.kill(crane, 0)).not.toThrow();
    await api(host.url('control'), '/api/services/harbour/restart', { method: 'POST' });
    await vi.waitFor(() => expect(() => process.kill(crane, 0)).toThrow(), { timeout: 15_000 });
    expect((await sendRequest('harbour', '/', {})).body.crane).not.toBe(crane);
  });
});

/** Requests that the metrics count for the harbour. */
async function counted(): Promise<number> {
  const response = await fetch(`${host.url('control')}/metrics`, { headers: { Authorization: adminAuthorization } });
  const lines = (await response.text())
    .split('\n')
    .filter((line) => /^\w*requests_total\{.*service="harbour"/.test(line));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
