import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { uptime } from '../../../services/uptime/index.ts';
import { api, inbox as readInbox } from '../../support/api.ts';
import { openTestHost } from '../../support/host.ts';
import { listen, openTarget, openUptime, type SentEvent } from './rig.ts';
import { needs } from '../../support/requirements.ts';

needs('openssl');

it('sends one warning for a certificate that passes several thresholds', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  execFileSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '5'],
    ...['-keyout', key, '-out', cert, '-subj', '/CN=leaf-5d', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
  ]);
  const pem = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  const server = createServer(pem, (_request, response) => void response.end('x'));
  await using rig = await openUptime();
  try {
    const url = `https://localhost:${String(await listen(server))}/`;
    const common = { type: 'http', url, interval: 0.3, timeout: 5 };
    const { id } = await rig.add({ ...common, name: 'tls', expiryNotification: true, tlsCa: pem.cert });
    const [warning] = await rig.events('cert_expiry', id);
    expect(warning).toMatchObject({
      title: '[Certificate] tls: 4 days left',
      type: 'warning',
      event: { daysRemaining: 4, subjectCN: 'leaf-5d', threshold: 7 },
    });
    expect(await rig.call('GET', `/api/monitors/${String(id)}/facts`)).toMatchObject({
      certificate: { trusted: true, chain: [{ subject: 'leaf-5d', kind: 'self-signed' }] },
    });
    // Without the authority the certificate is not trusted, and monitors without the option send no warning.
    const strange = await rig.add({ ...common, name: 'strange' });
    expect((await rig.until(strange.id, 0)).msg).toContain('it is self-signed');
    const careless = await rig.add({ ...common, name: 'careless', ignoreTls: true, expiryNotification: true });
    await rig.until(careless.id, 1);
    await vi.waitUntil(async () => (await rig.beats(id)).length > 5);
    expect(rig.sent.filter(({ event }) => event.kind === 'cert_expiry')).toHaveLength(1);
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

it('retries delivery and sends each event once and in order, also after a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'uptime-'));
  await using target = await openTarget();
  const sent: SentEvent[] = [];
  let isUnavailable = true;
  await using aggregator = await openTarget((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      if (!isUnavailable) sent.push(JSON.parse(text) as SentEvent);
      response.writeHead(isUnavailable ? 503 : 200).end();
    });
  });
  try {
    let id: number;
    {
      await using rig = await openUptime({ dataDir, aggregator });
      ({ id } = await rig.add({ type: 'http', name: 'web', url: target.url, interval: 0.3, timeout: 5 }));
      await rig.until(id, 1);
      target.handler = (_request, response) => void response.writeHead(500).end();
      await rig.until(id, 0);
      await expect.poll(() => aggregator.requests.length).toBeGreaterThan(0);
    }
    target.handler = (_request, response) => void response.end();
    {
      await using rig = await openUptime({ dataDir, aggregator });
      await rig.until(id, 1);
      isUnavailable = false;
      await vi.waitUntil(() => sent.length >= 2);
      expect(sent.map(({ event }) => event.kind)).toEqual(['down', 'up']);
      expect(new Set(sent.map(({ event }) => event.id)).size).toBe(2);
      const { items } = await rig.call<{ items: { resolvedAt: number | null }[] }>('GET', '/api/incidents');
      expect(items).toEqual([expect.objectContaining({ monitorIds: [id], resolvedAt: expect.any(Number) })]);
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it('sends events to Delivery without a configured receiver', async () => {
  await using target = await openTarget((_request, response) => void response.writeHead(500).end());
  await using host = await openTestHost({ services: [uptime, notify, inbox, control] });
  await api(host.url('uptime'), '/api/monitors', {
    method: 'POST',
    body: JSON.stringify({ type: 'http', name: 'web', url: target.url, interval: 60 }),
  });
  const rows = await vi.waitUntil(async () => {
    const items = await readInbox(host.url('control'));
    return items.length > 0 ? items : undefined;
  });
  expect(rows).toEqual([
    expect.objectContaining({
      title: '[Down] web',
      source: 'uptime',
      link: expect.stringMatching(/\/uptime\/monitors\/1$/),
    }),
  ]);
});

it('reports flapping once and no further changes', async () => {
  let fails = false;
  await using target = await openTarget((_request, response) => {
    fails = !fails;
    response.writeHead(fails ? 500 : 200).end();
  });
  await using rig = await openUptime();
  const flap = { changes: 3, withinSeconds: 600 };
  const { id } = await rig.add({ type: 'http', name: 'flaps', url: target.url, interval: 0.2, timeout: 5, flap });
  const flapping = () => rig.sent.filter(({ title }) => title.startsWith('[Flapping]'));
  await vi.waitUntil(() => flapping().length > 0);
  const before = rig.sent.length;
  const beats = (await rig.beats(id)).length;
  await vi.waitUntil(async () => (await rig.beats(id)).length > beats + 6);
  expect(rig.sent.length).toBe(before);
  expect(flapping()).toHaveLength(1);
});
