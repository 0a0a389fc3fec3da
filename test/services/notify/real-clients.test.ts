import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { notify } from '../../../services/notify/index.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { isMissing, needs } from '../../support/requirements.ts';
import { createProbe, openReceiver, type Offers, type Receiver } from './support.ts';

needs('Apprise library', 'python3');

const tools = fileURLToPath(new URL('../../../.cache/tools/', import.meta.url));
const alertmanager = join(tools, 'prometheus-alertmanager');
const run = promisify(execFile);

let host: TestHost;
let offers: Offers;
let receiver: Receiver;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-clients-'));
  receiver = await openReceiver();
  const probe = createProbe(['inbox', 'push']);
  offers = probe.offers;
  host = await openTestHost({ services: [probe.descriptor, notify] });
  const destinationUrl = `json://127.0.0.1:${receiver.port}`;
  await fetch(`${host.url('notify')}/add/house`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      config: `nas=${destinationUrl}/nas\ndoor=${destinationUrl}/door\n${destinationUrl}/all\n`,
      format: 'text',
    }),
  });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  receiver.received.length = 0;
  offers.inbox.clear();
});

/** Returns the received body of each destination by its path. */
function getReceivedBodies(): Record<string, unknown> {
  return Object.fromEntries(receiver.received.map(({ path, body }) => [path, JSON.parse(body) as unknown]));
}

describe.each(['apprise-1', 'apprise-2'])('the command line of Apprise, %s', (version) => {
  const library = join(tools, version);
  /** Runs a program as a user would and resolves with its exit code. */
  const apprise = async (...args: string[]): Promise<number> => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, PYTHONPATH: library, LANG: 'C.UTF-8' };
    const program = [join(library, 'bin', 'apprise'), ...args];
    return run('python3', program, { env, timeout: 60_000 }).then(
      () => 0,
      (error: { code?: number }) => error.code ?? -1,
    );
  };
  const buildAppriseUrl = (more = ''): string => `apprise://127.0.0.1:${host.port('notify')}/house${more}`;

  it.skipIf(isMissing(existsSync(library)))(
    'sends a title, a body and a type to a key',
    async () => {
      expect(await apprise('-t', 'Bäckup', '-b', 'done 🎉', '-n', 'warning', buildAppriseUrl())).toBe(0);
      const notification = { title: 'Bäckup', message: 'done 🎉', type: 'warning' };
      expect(getReceivedBodies()).toMatchObject({ '/nas': notification, '/door': notification, '/all': notification });
    },
    90_000,
  );

  it.skipIf(isMissing(existsSync(library)))(
    'filters by tags, and receives an error for an unused tag',
    async () => {
      expect(await apprise('-b', 'x', buildAppriseUrl('?tags=nas,door'))).toBe(0);
      expect(Object.keys(getReceivedBodies()).toSorted()).toEqual(['/door', '/nas']);
      expect(await apprise('-b', 'x', buildAppriseUrl('?tags=nobody'))).not.toBe(0);
      expect(await apprise('-b', 'x', `apprise://127.0.0.1:${host.port('notify')}/nokey`)).not.toBe(0);
    },
    90_000,
  );

  it.skipIf(isMissing(existsSync(library)))(
    'sends a file',
    async () => {
      const file = join(folder, 'note.txt');
      writeFileSync(file, 'hello');
      expect(await apprise('-b', 'x', '--attach', file, buildAppriseUrl('?tags=nas'))).toBe(0);
      const base64 = Buffer.from('hello').toString('base64');
      expect(getReceivedBodies()).toMatchObject({
        '/nas': { attachments: [{ filename: 'note.txt', base64, mimetype: 'text/plain' }] },
      });
    },
    90_000,
  );

  it.skipIf(isMissing(existsSync(library)))(
    'loads the destinations of a key as its configuration',
    async () => {
      const config = `http://127.0.0.1:${host.port('notify')}/get/house`;
      expect(await apprise('-b', 'mine', '-c', config, '-g', 'door')).toBe(0);
      expect(getReceivedBodies()).toMatchObject({ '/door': { message: 'mine' } });
    },
    90_000,
  );
});

describe('the real Alertmanager', () => {
  it.skipIf(isMissing(existsSync(alertmanager)))(
    'sends a firing and a resolved alert, and accepts the responses',
    async () => {
      const web = await freePort();
      const config = join(folder, 'alertmanager.yml');
      const url = `${host.url('notify')}/notify/aggregator`;
      writeFileSync(
        config,
        [
          'route: {receiver: house, group_by: [alertname], group_wait: 10ms, group_interval: 100ms, repeat_interval: 1h}',
          `receivers: [{name: house, webhook_configs: [{url: "${url}", send_resolved: true}]}]`,
        ].join('\n'),
      );
      const child = spawn(
        alertmanager,
        [
          `--config.file=${config}`,
          `--storage.path=${join(folder, 'alertmanager')}`,
          `--web.listen-address=127.0.0.1:${web}`,
          '--cluster.listen-address=',
        ],
        { stdio: 'ignore' },
      );
      try {
        const api = `http://127.0.0.1:${web}/api/v2/alerts`;
        await vi.waitFor(async () => expect((await fetch(api)).status).toBe(200), { timeout: 30_000, interval: 100 });
        const alert = {
          labels: { alertname: 'HighDisk', instance: 'nas:9100', severity: 'warning' },
          annotations: { summary: 'Disk nearly full', description: '95 %' },
          generatorURL: 'http://prometheus.example/graph',
        };
        const send = async (more: object): Promise<void> => {
          const body = JSON.stringify([{ ...alert, ...more }]);
          const reply = await fetch(api, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
          expect(reply.status).toBe(200);
        };
        const titles = (): string[] => [...offers.inbox.values()].map(({ title }) => title);
        await send({});
        await vi.waitFor(() => expect(titles()).toEqual(['[FIRING:1] HighDisk (nas:9100)']), 20_000);
        const [firing] = offers.inbox.values();
        expect(firing).toMatchObject({ priority: 4, source: 'alertmanager' });
        expect(firing?.body).toMatch(
          /^🔥 Disk nearly full\n95 %\nSince .* UTC\nSource: http:\/\/prometheus\.example\/graph$/,
        );
        await send({ endsAt: new Date(Date.now() - 1000).toISOString() });
        await vi.waitFor(() => expect(titles()).toContain('[RESOLVED:1] HighDisk (nas:9100)'), 20_000);
        const metrics = await (await fetch(`http://127.0.0.1:${web}/metrics`)).text();
        expect(metrics).toMatch(/alertmanager_notifications_total\{integration="webhook"\} 2/);
        expect(metrics).not.toMatch(/alertmanager_notifications_failed_total\{integration="webhook".*\} [1-9]/);
      } finally {
        child.kill('SIGKILL');
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      }
    },
    120_000,
  );
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
