import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import { control } from '../../services/control/index.ts';
import { api } from '../support/api.ts';
import { createFakeClock, type FakeClock } from '../support/clock.ts';
import { fixtureService, never } from '../support/fixture-service.ts';
import { adminAuthorization, openTestHost, testEnvironment, type TestHost } from '../support/host.ts';
import { command, startHostProcess } from '../support/host-process.ts';
import { SmtpDialogue } from '../support/smtp.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-life-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** Timeout for a busy computer. */
const longTimeout = { interval: 5, timeout: 20_000 };

/** Sends raw bytes on a separate connection. */
async function begin(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

async function fetchState(host: TestHost, id: string): Promise<ServiceState | undefined> {
  const { services } = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
  return services.find((service) => service.id === id);
}

/** Lets time pass until the work is done. */
async function turning<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  while (!isDone) {
    clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return done;
}

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('SIGTERM', () => {
  it('ends the host with code 0 and without loss while streams, uploads and a hanging delivery are open', async () => {
    const hanging = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const destination = `json://127.0.0.1:${(hanging.address() as AddressInfo).port}/`;
    try {
      await using host = await startHostProcess(dataDir, { environment: { HOMEPORT_STOP_TIMEOUT: '6' } });
      const head = `HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${adminAuthorization}\r\n`;
      const streams = [
        await begin(host.port('control'), `GET /api/events ${head}\r\n`),
        await begin(host.port('push'), `GET /homeport/json ${head}\r\n`),
      ];
      await Promise.all(streams.map((stream) => once(stream, 'data')));
      await begin(host.port('push'), `PUT /homeport ${head}Content-Length: 1000\r\n\r\nhalf`);
      await begin(host.port('control'), 'GET /api/session HTTP/1.1\r\nHost: 127.');
      using smtp = await SmtpDialogue.open(host.port('mail'));
      for (const line of ['EHLO test', 'MAIL FROM:<a@example.org>', 'RCPT TO:<alerts@homeport.local>', 'DATA']) {
        expect(await smtp.command(line)).toMatch(/^(250|354)/);
      }
      smtp.write('Subject: half\r\n');
      await fetch(`${host.url('notify')}/add/away`, {
        method: 'POST',
        body: new URLSearchParams({ urls: destination }),
      });
      const first = once(hanging, 'request');
      const notice = new URLSearchParams({ title: 'kept', body: 'text' });
      const sent = fetch(`${host.url('notify')}/notify/away`, { method: 'POST', body: notice });
      await first;
      const second = once(hanging, 'request');
      const [reply] = await Promise.all([sent, host.stop()]);
      expect(reply.status).toBe(200);
      expect([host.child.exitCode, host.child.signalCode]).toEqual([0, null]);

      await using _next = await startHostProcess(dataDir);
      await second;
    } finally {
      hanging.closeAllConnections();
      hanging.close();
    }
  });

  it('ends an unfinished start with code 0, and the next start succeeds', async () => {
    const child = spawn(process.execPath, [command, '--headless', '--data-dir', dataDir], {
      env: testEnvironment(dataDir),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // The first line of the log is written before any service exists.
    await once(child.stderr, 'data');
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect([child.exitCode, child.signalCode]).toEqual([0, null]);
    await using host = await startHostProcess(dataDir);
    expect(await host.stop()).toBe(0);
  });

  it('ends the host while a service is still starting', async () => {
    const stopping = new AbortController();
    const start = vi.fn(() => {
      stopping.abort();
      return never();
    });
    const opening = openTestHost({
      dataDir,
      services: [fixtureService('slow', () => ({ start })), control],
      signal: stopping.signal,
    });
    await expect(opening).rejects.toMatchObject({ code: 'host.stopped' });
    expect(start).toHaveBeenCalledOnce();
  });
});

describe('a failing service', () => {
  const thrower = (): never => {
    throw new Error('out of order');
  };

  it.each([
    ['in create', fixtureService('bad', thrower)],
    ['at once in start', fixtureService('bad', () => ({ start: thrower }))],
    ['in start', fixtureService('bad', () => ({ start: () => Promise.reject(new Error('out of order')) }))],
  ])('reports its reason and does not affect other services when it fails %s', async (_case, bad) => {
    await using host = await openTestHost({ dataDir, services: [bad, fixtureService('good'), control] });
    expect(await fetchState(host, 'bad')).toMatchObject({
      state: 'failed',
      reason: 'The service didn’t start: out of order',
    });
    expect(await (await fetch(host.url('good'))).text()).toBe('good');
    expect(host.host.failures()).toEqual({ bad: 'The service didn’t start: out of order' });
  });

  it('delays neither other services nor the host when its start hangs, and fails after the timeout', async () => {
    const clock = createFakeClock();
    const slow = fixtureService('slow', () => ({ start: never }));
    await using host = await turning(
      clock,
      openTestHost({ dataDir, clock, services: [slow, fixtureService('good'), control] }),
    );
    expect(host.host.failures()).toEqual({});
    expect(host.host.starting()).toEqual(['slow']);
    expect((await fetch(host.url('slow'))).status).toBe(503);
    expect((await fetchState(host, 'slow'))?.state).toBe('starting');
    expect(await (await fetch(host.url('good'))).text()).toBe('good');
    await turning(
      clock,
      vi.waitFor(async () => expect((await fetchState(host, 'slow'))?.state).toBe('failed'), longTimeout),
    );
    expect((await fetchState(host, 'slow'))?.reason).toContain('didn’t start within');
  });

  it('does not prevent the host from stopping when its disposal hangs or throws', async () => {
    const services = [
      fixtureService('hangs', () => ({ [Symbol.asyncDispose]: never })),
      fixtureService('throws', () => ({ [Symbol.asyncDispose]: thrower })),
      control,
    ];
    const host = await openTestHost({ dataDir, services, environment: { HOMEPORT_STOP_TIMEOUT: '1' } });
    await host[Symbol.asyncDispose]();
    const log = host.log.join('\n');
    expect(log).toContain('service stop timed out');
    expect(log).toContain('out of order');
    await using _next = await openTestHost({ dataDir, services: [control] });
  });

  it('counts as degraded when its health check hangs, with one check at a time', async () => {
    const clock = createFakeClock();
    const health = vi.fn<() => Promise<never>>(never);
    const silentService = fixtureService('mute', () => ({ health }));
    await using host = await turning(clock, openTestHost({ dataDir, clock, services: [silentService, control] }));
    const states = await turning(clock, Promise.all([fetchState(host, 'mute'), fetchState(host, 'mute')]));
    expect(states.map((entry) => entry?.state)).toEqual(['degraded', 'degraded']);
    expect(health).toHaveBeenCalledOnce();
  });

  it('restarts after increasing delays when its health is down, and reports it', async () => {
    const clock = createFakeClock();
    let startCount = 0;
    const crashingService = fixtureService('frail', () => {
      const startNumber = (startCount += 1);
      return {
        health: () => Promise.resolve({ state: startNumber < 3 ? 'down' : 'up', detail: `Life ${startNumber}.` }),
      };
    });
    await using host = await openTestHost({ dataDir, clock, services: [crashingService, control] });
    const shows = (state: Partial<ServiceState>) => async (): Promise<void> =>
      expect(await fetchState(host, 'frail')).toMatchObject(state);
    for (const pause of [5, 10]) {
      const life = startCount;
      const reason = `Life ${life}. The service restarts in ${pause} seconds.`;
      await vi.waitFor(shows({ state: 'degraded', reason }), longTimeout);
      clock.advance(pause * 1000 - 1);
      await shows({ state: 'degraded', reason })();
      expect(startCount).toBe(life);
      clock.advance(1);
      await vi.waitFor(() => expect(startCount).toBe(life + 1), longTimeout);
    }
    await vi.waitFor(shows({ state: 'up', detail: 'Life 3.' }), longTimeout);
    expect(host.log.join('\n')).toContain('service down, restart scheduled');
  });

  it('receives the stop timeout of its manifest when it needs more than the setting allows', async () => {
    const clock = createFakeClock();
    const stopping = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const slow = fixtureService('slow', () => ({
      [Symbol.asyncDispose]: () => {
        stopping.resolve();
        return end.promise;
      },
    }));
    const host = await openTestHost({ dataDir, clock, services: [{ ...slow, stopMs: 60_000 }, control] });
    expect(host.host.stopTimeoutMs()).toBe(60_000);
    const closed = host[Symbol.asyncDispose]();
    await stopping.promise;
    clock.advance(20_000);
    await new Promise((resolve) => setImmediate(resolve));
    end.resolve();
    await closed;
    const leftoverLines = host.log.filter((line) => line.includes('left behind'));
    expect(leftoverLines.filter((line) => line.includes('ERROR slow'))).toEqual([]);
  });

  it('runs one health check when the clock jumps over many', async () => {
    const clock = createFakeClock();
    await using host = await openTestHost({ dataDir, clock, services: [fixtureService('calm'), control] });
    clock.advance(3_600_000);
    expect((await fetchState(host, 'calm'))?.state).toBe('up');
    // At most one check per service was running when the clock advanced by an hour.
    expect(host.log.filter((line) => line.includes('health check failed')).length).toBeLessThanOrEqual(2);
  });

  it('runs once when an automatic and a manual restart coincide', async () => {
    const clock = createFakeClock();
    let running = 0;
    const start = vi.fn(() => {
      if (start.mock.calls.length === 1) return Promise.reject(new Error('not yet'));
      running += 1;
      return Promise.resolve();
    });
    const dispose = (): Promise<void> => {
      running = Math.max(0, running - 1);
      return Promise.resolve();
    };
    const late = fixtureService('late', () => ({ start, [Symbol.asyncDispose]: dispose }));
    await using host = await openTestHost({ dataDir, clock, services: [late, control] });
    expect((await fetchState(host, 'late'))?.state).toBe('failed');
    const byHand = api<ServiceState>(host.url('control'), '/api/services/late/restart', { method: 'POST' });
    clock.advance(30_000);
    expect((await byHand).state).toBe('up');
    clock.advance(30_000);
    expect((await fetchState(host, 'late'))?.state).toBe('up');
    expect(running).toBe(1);
    expect(await (await fetch(host.url('late'))).text()).toBe('late');
  });

  it('restarts with new settings when it cannot apply them live', async () => {
    const messages: string[] = [];
    const requests: unknown[] = [];
    const fixture = fixtureService('stubborn', (_context, { word }) => ({
      start: () => Promise.resolve(void messages.push(word)),
      reconfigure: (settings) => {
        requests.push(settings);
        return Promise.reject(new Error('no'));
      },
    }));
    const word = z.string().default('').meta({ title: 'Word', description: 'A word.', live: true });
    const stubborn = { ...fixture, settings: fixture.settings.safeExtend({ word }) };
    await using host = await openTestHost({ dataDir, services: [stubborn, control] });
    const change = { method: 'PATCH', body: JSON.stringify({ word: 'new' }) };
    expect(await api(host.url('control'), '/api/settings/stubborn', change)).toEqual({ restarted: ['stubborn'] });
    expect(messages).toEqual(['', 'new']);
    expect(requests).toEqual([expect.objectContaining({ word: 'new' })]);
  });

  it('logs an unhandled rejection and keeps running', async () => {
    const stray = "process.on('SIGUSR2',()=>{Promise.reject(new%20Error('stray'))})";
    const environment = { NODE_OPTIONS: `--import=data:text/javascript,${stray}` };
    await using host = await startHostProcess(dataDir, { environment });
    host.child.kill('SIGUSR2');
    await vi.waitFor(() => expect(host.errors.join('\n')).toContain('stray'), { timeout: 5000, interval: 20 });
    expect((await fetch(`${host.url('control')}/api/session`)).status).toBe(200);
  });
});

describe('a restart', () => {
  it('lets running requests finish and answers 503 until the service has started', async () => {
    const answers: (() => void)[] = [];
    const gates = [Promise.resolve(), Promise.withResolvers<void>()] as const;
    let starts = 0;
    const busy = fixtureService('busy', () => ({
      http: (_request, response) => void answers.push(() => response.end('done')),
      start: () => ((starts += 1) === 1 ? gates[0] : gates[1].promise),
    }));
    const port = await freePort();
    writeFileSync(join(dataDir, 'homeport.yaml'), `version: 1\nservices:\n  busy:\n    port: ${port}\n`);
    await using host = await openTestHost({ dataDir, services: [busy, control] });
    const running = fetch(host.url('busy'));
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    const restarted = api<ServiceState>(host.url('control'), '/api/services/busy/restart', { method: 'POST' });
    await vi.waitFor(async () => expect((await fetchState(host, 'busy'))?.state).toBe('stopping'));
    answers[0]?.();
    expect(await (await running).text()).toBe('done');
    await vi.waitFor(async () => expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(503));
    gates[1].resolve();
    expect((await restarted).state).toBe('up');
    expect(answers).toHaveLength(1);
  });

  it('moves the control service to a new port: the response arrives, the new port answers, a second start finds it', async () => {
    const [before, after] = [await freePort(), await freePort()];
    writeFileSync(join(dataDir, 'homeport.yaml'), `version: 1\nservices:\n  control:\n    port: ${before}\n`);
    await using host = await startHostProcess(dataDir, { environment: { HOMEPORT_PORT_CONTROL: '' } });
    expect(host.port('control')).toBe(before);
    const events = await begin(
      before,
      `GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${adminAuthorization}\r\n\r\n`,
    );
    await once(events, 'data');
    const change = { method: 'PATCH', body: JSON.stringify({ port: after }) };
    expect(await api(host.url('control'), '/api/settings/control', change)).toEqual({ restarted: ['control'] });
    await vi.waitFor(async () => expect((await fetch(`http://127.0.0.1:${after}/api/session`)).status).toBe(200), {
      timeout: 5000,
      interval: 20,
    });
    await expect(fetch(`http://127.0.0.1:${before}/api/session`)).rejects.toThrow();
    const second = spawn(process.execPath, [command, '--headless', '--data-dir', dataDir], {
      env: testEnvironment(dataDir),
    });
    const [output] = (await once(second.stdout, 'data')) as [Buffer];
    expect(String(output)).toContain(`already running at http://127.0.0.1:${after}`);
    expect(await host.stop()).toBe(0);
  });

  it('closes and reopens the listener when a service is disabled and enabled', async () => {
    await using host = await openTestHost({ dataDir, services: [fixtureService('lamp'), control] });
    const base = host.url('lamp');
    const turn = (enabled: boolean): Promise<unknown> =>
      api(host.url('control'), '/api/settings/lamp', { method: 'PATCH', body: JSON.stringify({ enabled }) });
    await turn(false);
    expect((await fetchState(host, 'lamp'))?.state).toBe('off');
    await expect(fetch(base)).rejects.toThrow();
    await turn(true);
    expect(await (await fetch(host.url('lamp'))).text()).toBe('lamp');
  });
});
