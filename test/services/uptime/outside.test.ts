import * as gatewayTexts from '#messages/gateway-texts';
import { spawn } from 'node:child_process';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { markGatewayRequest } from '../../../services/contracts/gateway.ts';
import type { Context } from '../../../services/contracts/service.ts';
import { push } from '../../../services/push/index.ts';
import { ApiKeys } from '../../../services/uptime/store/api-keys.ts';
import { authenticateCaller } from '../../../services/uptime/app-api/sign-in.ts';
import { uptime } from '../../../services/uptime/index.ts';
import { freePort } from '../../support/free-port.ts';
import { openHome } from '../../support/gateway/phone.ts';
import { adminAuthorization } from '../../support/host.ts';
import { lacksProgram, needs } from '../../support/requirements.ts';
import { toolPath } from '../../support/tools.ts';
import { openTarget, openUptime } from './rig.ts';

needs('prometheus');

const prometheus = toolPath('prometheus');
const waitOptions = { timeout: 60_000, interval: 200 };

it.skipIf(lacksProgram(prometheus))('is scraped by Prometheus with a key, and the shipped rules fire', async () => {
  await using target = await openTarget((_request, response) => void response.writeHead(500).end());
  await using rig = await openUptime();
  const { id } = await rig.add({ type: 'http', name: 'shop', url: target.url, interval: 3600 });
  await rig.until(id, 0);
  const { key } = await rig.call<{ key: string }>('POST', '/api/api-keys', { name: 'prometheus' });
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const port = String(await freePort());
  writeFileSync(
    join(folder, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [fileURLToPath(new URL('../../../assets/uptime/prometheus-alerts.yaml', import.meta.url))],
      scrape_configs: [
        {
          job_name: 'homeport-uptime',
          basic_auth: { username: 'any', password: key },
          static_configs: [{ targets: [new URL(rig.url).host] }],
        },
      ],
    }),
  );
  const child = spawn(
    prometheus,
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  try {
    const sendRequest = async (path: string): Promise<unknown> => {
      const reply = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`).catch(() => undefined);
      return reply?.ok === true ? ((await reply.json()) as { data: unknown }).data : undefined;
    };
    const queryValue = (query: string) =>
      vi.waitUntil(async () => {
        const data = (await sendRequest(`query?query=${encodeURIComponent(query)}`)) as
          { result: { value: [number, string] }[] } | undefined;
        return data?.result[0]?.value[1];
      }, waitOptions);
    expect(await queryValue('up{job="homeport-uptime"} == 1')).toBe('1');
    expect(await queryValue('monitor_status{monitor_name="shop"}')).toBe('0');
    expect(await queryValue('uptime_monitors_up')).toBe('0');
    const alert = await vi.waitUntil(async () => {
      const data = (await sendRequest('alerts')) as { alerts: { labels: Record<string, string> }[] } | undefined;
      return data?.alerts.find(({ labels }) => labels['alertname'] === 'MonitorDown');
    }, waitOptions);
    expect(alert.labels).toMatchObject({ monitor_name: 'shop', severity: 'critical' });
    await rig.call('DELETE', `/api/monitors/${String(id)}`);
    await vi.waitUntil(async () => {
      const data = (await sendRequest(`query?query=${encodeURIComponent('monitor_status{monitor_name="shop"}')}`)) as
        { result: object[] } | undefined;
      return data?.result.length === 0;
    }, waitOptions);
  } finally {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
});

it('serves a status page under its domain name through the gateway without a sign-in', async () => {
  await using home = await openHome({
    services: [uptime, push, control, gateway],
    settings: { shared: ['uptime'] },
  });
  const call = async (method: string, path: string, body?: object): Promise<void> => {
    const headers = { authorization: adminAuthorization, 'content-type': 'application/json' };
    const reply = await fetch(home.host.url('uptime') + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(reply.status).toBeLessThan(300);
  };
  const visit = (path = '/') => home.ask(`https://status.harbour.local${path}`).catch(() => undefined);
  expect(await visit()).toBeUndefined();
  await call('POST', '/api/status-pages', { slug: 'harbour', title: 'Harbour' });
  await call('PUT', '/api/status-pages/harbour', { domainNameList: ['status.harbour.local'] });
  const series = await vi.waitUntil(async () => {
    const response = await visit();
    return response?.status === 200 ? response : undefined;
  }, waitOptions);
  expect(series.body).toContain('<title>Harbour</title>');
  expect(JSON.parse((await visit('/api/entry-page'))?.body ?? '')).toMatchObject({ statusPageSlug: 'harbour' });
  // All other paths require a sign-in, as on the service's own port.
  expect((await visit('/api/monitors'))?.status).toBe(401);
  expect((await home.ask('https://uptime.nas.local/status/harbour')).status).toBe(200);
  // The push topic is listed without a link to a port that is only reachable on this computer.
  await call('PUT', '/api/status-pages/harbour', { subscribable: true, pushTopic: 'harbour-news' });
  const followed = await home.ask('https://uptime.nas.local/status/harbour');
  expect(followed.body).toContain('harbour-news');
  expect(followed.body).not.toMatch(/href="[^"]*harbour-news/);
  // No link may be a loopback address.
  for (const name of ['127.0.0.2', 'localhost', 'a.localhost', '0x7f000001'])
    await expect(call('PUT', '/api/status-pages/harbour', { domainNameList: [name] })).rejects.toThrow();
  await call('PUT', '/api/status-pages/harbour', { domainNameList: ['nas.local', 'status.harbour.local'] });
  await vi.waitUntil(async () => (await visit())?.status === 200, waitOptions);
  expect((await home.ask('https://nas.local/')).body).toContain(gatewayTexts.homeTitle());
  // An unpublished page is not found under its domain.
  await call('PUT', '/api/status-pages/harbour', { published: false });
  await vi.waitUntil(async () => (await visit())?.status !== 200, waitOptions);
  expect((await visit('/api/entry-page'))?.body ?? '').not.toContain('harbour');
  await call('PUT', '/api/status-pages/harbour', { published: true });
  await vi.waitUntil(async () => (await visit())?.status === 200, waitOptions);
  await home.change({ shared: [] });
  await vi.waitUntil(async () => (await visit())?.status !== 200, waitOptions);
});

it('permits local clients, but no gateway clients, while no account exists', async () => {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: '127.0.0.1' });
  const request = new IncomingMessage(socket);
  const context = {
    caller: () => ({ remoteAddress: '127.0.0.1', isCrossSite: false }),
    accounts: { authenticate: () => Promise.resolve(undefined), list: () => Promise.resolve([]) },
  } as unknown as Context;
  expect((await authenticateCaller(context, new ApiKeys(context), request)).rights.all).toBe(true);
  markGatewayRequest(request);
  await expect(authenticateCaller(context, new ApiKeys(context), request)).rejects.toMatchObject({ status: 401 });
});
