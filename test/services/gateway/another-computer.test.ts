import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatewayState } from '../../../services/contracts/gateway/api.ts';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { push } from '../../../services/push/index.ts';
import { uptime } from '../../../services/uptime/index.ts';
import { api } from '../../support/api.ts';
import { secondMachine, type Machine } from '../../support/gateway/machine.ts';
import { sharing } from '../../support/gateway/phone.ts';
import { admin, adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { needs } from '../../support/requirements.ts';

needs('curl', 'openssl');

const folder = mkdtempSync(join(tmpdir(), 'gateway-machines-'));
const ca = join(folder, 'homeport.crt');
const film = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 253));
let machine: Machine;
let host: TestHost;
let state: GatewayState;
let port: string;
beforeAll(async () => {
  writeFileSync(join(folder, 'film.mp4'), film);
  machine = secondMachine();
  host = await openTestHost({
    services: [push, downloads, uptime, control, gateway],
    environment: sharing({ GATEWAY_ADDRESSES: machine.lan, DOWNLOAD_DIR: folder }),
  });
  const shared = { shared: ['push', 'downloads'] };
  await api(host.url('control'), '/api/settings/gateway', { method: 'PATCH', body: JSON.stringify(shared) });
  state = await api<GatewayState>(host.url('control'), '/api/gateway');
  const named = state.services.flatMap(({ addresses }) => addresses).find(({ by }) => by === 'name');
  port = new URL(named?.url ?? 'https://none:1').port;
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const getUrl = (service: string): string => `https://${service}.nas.local:${port}`;
const names = (): string[] =>
  ['push', 'downloads', 'uptime'].flatMap((id) => ['--resolve', `${id}.nas.local:${port}:${machine.lan}`]);
const from = (): string[] => (machine.by === 'loopback' ? ['--interface', machine.address] : []);
const curl = (...args: string[]): Promise<string> =>
  machine.run('curl', ['-sS', '--max-time', '60', ...from(), ...names(), ...args]);
const trusting = (...args: string[]): Promise<string> => curl('--cacert', ca, ...args);
const getStatus = (...args: string[]): Promise<string> => trusting('-o', '/dev/null', '-w', '%{http_code}', ...args);
const user = ['-u', `${admin.name}:${admin.password}`];

describe('another computer', () => {
  it('downloads the authority and trusts only it', async () => {
    await expect(curl(getUrl('push'))).rejects.toMatchObject({ code: 60 });
    await curl('-o', ca, `${state.trustUrl ?? ''}/homeport.crt`);
    const print = execFileSync('openssl', ['x509', '-in', ca, '-noout', '-fingerprint', '-sha256']).toString();
    expect(print).toContain(state.certificate?.fingerprint);
    expect(JSON.parse(await trusting(`${getUrl('push')}/v1/health`))).toEqual({ healthy: true });
  });

  it('signs in on the page and downloads a range', async () => {
    expect(await getStatus(`${getUrl('downloads')}/download/film.mp4`)).toBe('401');
    const jar = join(folder, 'jar');
    const fields = ['name', 'password'].flatMap((field) => ['--data-urlencode', `${field}=${admin[field as 'name']}`]);
    const origin = ['-H', `Origin: ${getUrl('downloads')}`];
    expect(await getStatus('-c', jar, ...origin, ...fields, `${getUrl('downloads')}/.homeport/sign-in`)).toBe('303');
    const part = join(folder, 'part');
    const address = `${getUrl('downloads')}/download/film.mp4`;
    expect(await trusting('-b', jar, '-r', '100000-199999', '-w', '%{http_code}', '-o', part, address)).toBe('206');
    expect(readFileSync(part).equals(film.subarray(100_000, 200_000))).toBe(true);
    const { sessions } = await api<{ sessions: { address: string }[] }>(host.url('control'), '/api/gateway/sessions');
    expect(sessions.map(({ address }) => address)).toEqual([machine.address]);
  });

  it('streams published messages, and notifies with apprise', async () => {
    const stream = machine.start('curl', [
      '-sSN',
      ...from(),
      '--cacert',
      ca,
      ...names(),
      ...user,
      `${getUrl('push')}/door/json`,
    ]);
    const lines = createInterface(stream.stdout)[Symbol.asyncIterator]();
    const next = async (): Promise<{ event: string; message?: string }> =>
      JSON.parse(String((await lines.next()).value)) as { event: string; message?: string };
    try {
      expect((await next()).event).toBe('open');
      const headers = { Authorization: adminAuthorization };
      await fetch(`${host.url('push')}/door`, { method: 'POST', headers, body: 'It rang' });
      expect(await next()).toMatchObject({ event: 'message', message: 'It rang' });
      const apprise = join(import.meta.dirname, '../../../.cache/tools/apprise-2');
      if (existsSync(apprise) || process.env['CI'] !== undefined) {
        const url = `ntfys://${admin.name}:${encodeURIComponent(admin.password)}@${machine.lan}:${String(host.port('push'))}/door`;
        const environment = { PYTHONPATH: apprise, HOME: folder, REQUESTS_CA_BUNDLE: ca };
        await machine.run(join(apprise, 'bin/apprise'), ['-b', 'By apprise', url], environment);
        expect(await next()).toMatchObject({ event: 'message', message: 'By apprise' });
      }
    } finally {
      stream.kill();
      await once(stream, 'close');
    }
  });

  it('receives queue updates with a socket.io client', async () => {
    const script = `
      import { readFileSync } from 'node:fs';
      import { io } from 'socket.io-client';
      const socket = io(process.argv[1], { ca: readFileSync(${JSON.stringify(ca)}), transports: ['websocket'], reconnection: false,
        extraHeaders: process.argv[2] === '' ? {} : { Authorization: process.argv[2] } });
      const end = (text) => { console.log(text); socket.close(); };
      socket.once('all', (all) => end('all ' + Array.isArray(JSON.parse(all))));
      socket.once('connect_error', () => end('refused'));`;
    const listen = (authorization: string): Promise<string> => {
      const address = `https://${machine.lan}:${String(host.port('downloads'))}`;
      return machine.run(process.execPath, ['--input-type=module', '-e', script, address, authorization]);
    };
    expect(await listen(adminAuthorization)).toBe('all true\n');
    expect(await listen('')).toBe('refused\n');
  });

  it('is rejected without access', async () => {
    // The app and unshared services are available only on this computer, and other names are unknown.
    await expect(curl(`http://${machine.lan}:${String(host.port('control'))}/`)).rejects.toMatchObject({ code: 7 });
    await expect(curl(`http://${machine.lan}:${String(host.port('uptime'))}/`)).rejects.toMatchObject({ code: 7 });
    expect(await getStatus(`${getUrl('uptime')}/`)).toBe('404');
    expect(await getStatus('-H', 'Host: rebound.example', `${getUrl('push')}/`)).toBe('403');
    expect(await getStatus('-u', 'ada:wrong', `${getUrl('downloads')}/history`)).toBe('401');
    const test = await api<{ visitors: { address: string; letIn: boolean }[] }>(
      host.url('control'),
      '/api/gateway/test',
      { method: 'POST' },
    );
    expect(test.visitors.find(({ address }) => address === machine.address)).toMatchObject({ letIn: true });
    const proxyNetworks = JSON.stringify({ networks: ['192.0.2.0/24'] });
    await api(host.url('control'), '/api/settings/gateway', { method: 'PATCH', body: proxyNetworks });
    await expect(trusting(`${getUrl('push')}/v1/health`)).rejects.toMatchObject({ code: expect.any(Number) as number });
  });
});
