import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import type { ServiceDescriptor } from '../../services/contracts/service.ts';
import { control } from '../../services/control/index.ts';
import { api } from '../support/api.ts';
import { createFakeClock } from '../support/clock.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { freePort } from '../support/free-port.ts';
import { openTestHost, type TestHost } from '../support/host.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-listeners-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** A service that answers pages on one port and greets on another. */
const git: ServiceDescriptor<any, any> = {
  ...fixtureService('git', () => ({
    http: (_request, response) => void response.end('pages'),
    listeners: { ssh: { tcp: (socket) => void socket.end('SSH-2.0-fixture\r\n') } },
  })),
  listeners: [
    { name: 'http', title: 'Pages', protocol: 'http', port: 0 },
    { name: 'ssh', title: 'Git over SSH', protocol: 'tcp', scheme: 'ssh', port: 0 },
  ],
};

const open = (options: Partial<Parameters<typeof openTestHost>[0]> = {}): Promise<TestHost> =>
  openTestHost({
    dataDir,
    services: [git, control],
    ...options,
    // Tests assign free ports to all listeners; here the settings file defines the port.
    environment: { HOMEPORT_PORT_GIT_SSH: '', ...options.environment },
  });

async function fetchState(host: TestHost): Promise<ServiceState | undefined> {
  const { services } = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
  return services.find(({ id }) => id === 'git');
}

async function hold(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

const setPort = (port: number): void =>
  writeFileSync(join(dataDir, 'homeport.yaml'), `version: 1\nservices:\n  git:\n    sshPort: ${port}\n`);

describe('a service with two listeners', () => {
  it('answers on both with separate handlers and lists both addresses', async () => {
    await using host = await open();
    expect(await (await fetch(host.url('git'))).text()).toBe('pages');
    expect(host.url('git.ssh')).toMatch(/^ssh:\/\/127\.0\.0\.1:\d+$/);
    expect(await text(connect(host.port('git.ssh'), '127.0.0.1'))).toBe('SSH-2.0-fixture\r\n');
    const state = await fetchState(host);
    expect(state).toMatchObject({ state: 'up', address: host.url('git') });
    expect(state?.listeners.map(({ name, address, setting }) => [name, address, setting])).toEqual([
      ['http', host.url('git'), 'port'],
      ['ssh', host.url('git.ssh'), 'sshPort'],
    ]);
  });

  it('reads the port of each from the settings, the file and the environment', async () => {
    const [fromFile, fromEnvironment] = [await freePort(), await freePort()];
    setPort(fromFile);
    {
      await using host = await open();
      expect(host.port('git.ssh')).toBe(fromFile);
    }
    await using host = await open({ environment: { HOMEPORT_PORT_GIT_SSH: String(fromEnvironment) } });
    expect(host.port('git.ssh')).toBe(fromEnvironment);
  });

  it('keeps running with one port in use, reports it and moves it to the offered port', async () => {
    const { server, port } = await hold();
    try {
      setPort(port);
      await using host = await open();
      expect(await (await fetch(host.url('git'))).text()).toBe('pages');
      const state = await fetchState(host);
      expect(state).toMatchObject({ state: 'degraded', suggestedPort: null });
      expect(state?.reason).toContain(`Git over SSH: Port ${port} is already in use by`);
      expect(host.host.failures()['git.ssh']).toContain(`Port ${port} is already in use by`);
      const offered = state?.listeners[1]?.suggestedPort;
      expect(offered).toBeGreaterThan(port);
      const move = { method: 'PATCH', body: JSON.stringify({ sshPort: offered }) };
      await api(host.url('control'), '/api/settings/git', move);
      expect(host.port('git.ssh')).toBe(offered);
      expect(await fetchState(host)).toMatchObject({ state: 'up', reason: null });
    } finally {
      server.close();
    }
  });

  it('opens a listener whose port became free without a restart', async () => {
    const { server, port } = await hold();
    setPort(port);
    const clock = createFakeClock();
    await using host = await open({ clock });
    const main = host.url('git');
    expect((await fetchState(host))?.state).toBe('degraded');
    server.close();
    await once(server, 'close');
    clock.advance(30_000);
    await vi.waitFor(async () => expect((await fetchState(host))?.state).toBe('up'), { timeout: 10_000 });
    expect(await text(connect(port, '127.0.0.1'))).toBe('SSH-2.0-fixture\r\n');
    expect(host.url('git')).toBe(main);
  });

  it('fails when no listener can open, and offers a port for each', async () => {
    const [pages, ssh] = [await hold(), await hold()];
    try {
      const environment = { HOMEPORT_PORT_GIT: String(pages.port), HOMEPORT_PORT_GIT_SSH: String(ssh.port) };
      await using host = await open({ environment });
      const state = await fetchState(host);
      expect(state?.state).toBe('failed');
      expect(state?.reason).toContain(`Port ${pages.port} is already in use`);
      expect(state?.reason).toContain(`Port ${ssh.port} is already in use`);
      expect(state?.listeners.map(({ suggestedPort }) => suggestedPort)).not.toContain(null);
    } finally {
      pages.server.close();
      ssh.server.close();
    }
  });

  it('rejects a port that another listener, service or program uses', async () => {
    const { server, port } = await hold();
    try {
      await using host = await open();
      for (const usedPort of [port, host.port('control'), host.port('git')]) {
        const change = { method: 'PATCH', body: JSON.stringify({ sshPort: usedPort }) };
        await expect(api(host.url('control'), '/api/settings/git', change)).rejects.toThrow('services.git.sshPort');
      }
    } finally {
      server.close();
    }
  });
});
