import * as problems from '#messages/notify-problems';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { startLibrary } from '../../../main/host/engines/start.ts';
import { engineProgress, type EngineLibrary, type Engines } from '../../../services/contracts/control/engines.ts';
import type { NotifyKey } from '../../../services/contracts/notify/api.ts';
import { control } from '../../../services/control/index.ts';
import { retryEngineDeliveries } from '../../../services/notify/deliver/retry-engine-deliveries.ts';
import { Library } from '../../../services/notify/apprise/library.ts';
import { notify } from '../../../services/notify/index.ts';
import { createFakeClock } from '../../support/clock.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { silentLog } from '../../support/database-location.ts';
import { createProbe } from './support.ts';
import { lacksLibrary, getLibraryFolder, placeEngine, python, workers } from './engine-rig.ts';

let folder: string;
let server: Server;
let port: number;
/** Requested paths, and the response to the next requests. */
let requestedUrls: string[];
let probe: ReturnType<typeof createProbe>;
let answer: (request: IncomingMessage, response: ServerResponse) => void;

const never = (): void => undefined;
const fine = (_request: IncomingMessage, response: ServerResponse): void => void response.end('{}');

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-engine-'));
  requestedUrls = [];
  answer = fine;
  server = createServer((request, response) => {
    request.resume().once('end', () => {
      requestedUrls.push(request.url ?? '');
      answer(request, response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Builds the URL of a service that requests a path and has a long timeout. */
const buildUrl = (path: string, more = ''): string =>
  `flowtriq://apikeyapikey@127.0.0.1:${port}/${path}?rto=120${more}`;

function openKeyedHost(launcher: string): Promise<TestHost> {
  probe = createProbe([]);
  return openTestHost({ services: [probe.descriptor, notify, control], environment: { APPRISE_PATH: launcher } });
}

async function post(host: { url(service: string): string }, path: string, body: unknown): Promise<string> {
  const reply = await fetch(`${host.url('notify')}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  });
  return await reply.text();
}

async function api<T>(host: TestHost, method: string, path: string): Promise<T> {
  const headers = { authorization: adminAuthorization, 'content-type': 'application/json' };
  const reply = await fetch(`${host.url('control')}/api${path}`, { method, headers });
  return (await reply.json()) as T;
}

describe.skipIf(lacksLibrary)('a Python of the engine', () => {
  it('replaces a process that was killed while sending, and retries the delivery', async () => {
    answer = never;
    await using host = await openKeyedHost(placeEngine(join(folder, 'engine'), getLibraryFolder('apprise-2')));
    await post(host, '/notify', { body: 'x', urls: buildUrl('once') });
    await vi.waitFor(() => expect(requestedUrls).toEqual(['/once']), 20_000);
    answer = fine;
    const [pid = 0] = await workers();
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(requestedUrls).toEqual(['/once', '/once']), 20_000);
    expect(await workers()).not.toContain(pid);
  }, 60_000);

  it('does not delay other deliveries while one hangs', async () => {
    answer = (request, response) => (request.url?.startsWith('/hang') ? never() : fine(request, response));
    await using host = await openKeyedHost(placeEngine(join(folder, 'engine'), getLibraryFolder('apprise-2')));
    await post(host, '/notify', { body: 'x', urls: Array.from({ length: 8 }, (_, index) => buildUrl(`hang${index}`)) });
    await vi.waitFor(() => expect(requestedUrls).toHaveLength(8), 20_000);
    expect(await post(host, '/notify', { body: 'x', urls: buildUrl('well') })).toContain('Sent Flowtriq notification.');
  }, 60_000);

  it('does not outlive a host that is killed, whatever it does at the time', async () => {
    answer = never;
    const launcher = placeEngine(join(folder, 'engine'), getLibraryFolder('apprise-2'));
    await using host = await startHostProcess(join(folder, 'data'), { environment: { APPRISE_PATH: launcher } });
    await post(host, '/notify', { body: 'x', urls: buildUrl('hang') });
    await vi.waitFor(() => expect(requestedUrls).toEqual(['/hang']), 20_000);
    const [pid = 0] = await workers(host.child.pid);
    expect(pid).toBeGreaterThan(0);
    await host.kill();
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 15_000);
  }, 90_000);
});

describe.skipIf(lacksLibrary)('an engine', () => {
  it('stores, delays and delivers when the engine is installed, removed and installed again', async () => {
    const engineFolder = join(folder, 'engine');
    const launcher = join(engineFolder, 'apprise');
    await using host = await openKeyedHost(launcher);
    const config = `${buildUrl('here')}\njson://127.0.0.1:${port}/native\n`;
    expect(await post(host, '/add/home', { config, format: 'text' })).toContain(
      `Line 1 does nothing: ${problems.needsEngine()}`,
    );
    const key = async (): Promise<NotifyKey | undefined> =>
      (await api<{ keys: NotifyKey[] }>(host, 'GET', '/notify/keys')).keys.find((entry) => entry.key === 'home');
    expect((await key())?.skipped).toEqual([{ line: 1, reason: problems.needsEngine(), needsEngine: true }]);
    expect(await post(host, '/notify/home', { body: 'x' })).not.toContain('Flowtriq');

    placeEngine(engineFolder, getLibraryFolder('apprise-2'));
    await api(host, 'POST', '/engines/apprise/verify');
    expect(await post(host, '/notify/home', { body: 'x' })).toContain('Flowtriq');
    await vi.waitFor(() => expect(requestedUrls).toContain('/here'), 20_000);
    expect(await key()).toMatchObject({ skipped: [], destinations: [{ needsEngine: false }, { service: 'JSON' }] });

    renameSync(engineFolder, join(folder, 'elsewhere'));
    await api(host, 'POST', '/engines/apprise/verify');
    requestedUrls.length = 0;
    const response = await post(host, '/notify/home', { body: 'x' });
    expect(response).toContain('Failed to send Flowtriq notification: It needs the Apprise engine');
    expect(response).toContain('It is queued and tried again.');
    expect(requestedUrls).toEqual(['/native']);
    const [waiting] = (await key())?.destinations ?? [];
    expect(waiting).toMatchObject({ service: 'Flowtriq', needsEngine: true, health: { state: 'waiting' } });
    expect(waiting?.url).not.toContain('apikeyapikey');

    renameSync(join(folder, 'elsewhere'), engineFolder);
    await api(host, 'POST', '/engines/apprise/verify');
    // Publishes the event of a finished installation.
    probe.offers.context?.bus.publish(engineProgress, { name: 'apprise', work: null });
    await vi.waitFor(() => expect(requestedUrls).toContain('/here'), 20_000);
  }, 90_000);

  it('retries waiting deliveries after the installation', async () => {
    const retried: string[] = [];
    const keys = [null, 'notification:irc', 'notification:json'];
    await retryEngineDeliveries(
      {
        list: async () =>
          keys.map((key) => ({
            id: key ?? 'unnamed',
            kind: '',
            key,
            state: 'waiting',
            attempts: 1,
            createdAt: 0,
            runAt: 0,
            lastError: null,
          })),
        retry: async (id) => retried.push(id) > 0,
      },
      { listWaitingKeys: async (code) => new Set(code === 'needs_engine' ? ['notification:irc'] : []) },
    );
    expect(retried).toEqual(['notification:irc']);
  });

  it('retries waiting deliveries a few at a time', async () => {
    const job = {
      kind: '',
      key: 'due',
      state: 'waiting',
      attempts: 1,
      createdAt: 0,
      runAt: 0,
      lastError: null,
    } as const;
    let underWay = 0;
    const seen: number[] = [];
    const jobs: Parameters<typeof retryEngineDeliveries>[0] = {
      list: async () => Array.from({ length: 1000 }, (_, id) => ({ ...job, id: String(id) })),
      retry: async () => {
        underWay += 1;
        seen.push(underWay);
        await nextTurn();
        underWay -= 1;
        return true;
      },
    };
    await retryEngineDeliveries(jobs, { listWaitingKeys: async () => new Set(['due']) });
    expect(seen).toHaveLength(1000);
    expect(Math.max(...seen), 'shares commits').toBeGreaterThan(1);
    expect(Math.max(...seen), 'leaves room for others').toBeLessThan(100);
  });

  it('is remembered across a restart, so that its destinations wait while it is missing', async () => {
    const engineFolder = join(folder, 'engine');
    const data = join(folder, 'data');
    mkdirSync(data);
    const options = {
      services: [notify, control],
      dataDir: data,
      environment: { APPRISE_PATH: join(engineFolder, 'apprise') },
    };
    placeEngine(engineFolder, getLibraryFolder('apprise-2'));
    await using first = await openTestHost(options);
    await post(first, '/add/home', { config: buildUrl('here'), format: 'text' });
    await first[Symbol.asyncDispose]();
    rmSync(engineFolder, { recursive: true });
    await using second = await openTestHost(options);
    const { keys } = await api<{ keys: NotifyKey[] }>(second, 'GET', '/notify/keys');
    const home = keys.find((entry) => entry.key === 'home');
    expect(home).toMatchObject({ skipped: [], destinations: [{ service: 'Flowtriq', needsEngine: true }] });
    expect(home?.destinations[0]?.url).toContain('flowtriq://a...y@127.0.0.1');
  }, 60_000);

  it('reports a failed import without losing deliveries', async () => {
    const packages = join(folder, 'packages');
    mkdirSync(join(packages, 'apprise'), { recursive: true });
    writeFileSync(join(packages, 'apprise', '__init__.py'), 'raise ImportError("half of it is missing")\n');
    await using host = await openKeyedHost(placeEngine(join(folder, 'engine'), packages));
    const added = await post(host, '/add/home', { config: `${buildUrl('here')}\npush://x\n`, format: 'text' });
    expect(added).toContain(`Line 1 does nothing: ${problems.needsEngine()}`);
    expect(host.log.join('\n')).toContain('half of it is missing');
  }, 60_000);
});

describe.skipIf(lacksLibrary)('the child', () => {
  const Sent = z.object({ ok: z.boolean(), log: z.array(z.tuple([z.string(), z.string()])).optional() });
  const message = { title: '', body: 'x', type: 'info', format: 'text', attach: [] as unknown[] };
  const deadline = (ms = 120_000): AbortSignal => AbortSignal.timeout(ms);

  function open(
    library: EngineLibrary = { python, path: getLibraryFolder('apprise-2') },
    clock = createFakeClock(),
  ): Library {
    const state = { name: 'apprise' as const, path: '/x', version: '2.2.0', source: 'setting' as const, remedy: null };
    const engines: Engines = {
      find: async () => state,
      library: async () => library,
      start: startLibrary,
      working: () => undefined,
      settled: async () => undefined,
    };
    return new Library({ engines, clock, log: silentLog, files: folder });
  }

  /** Script that runs instead of Python. */
  function writeProgram(text: string): EngineLibrary {
    const program = join(folder, 'impostor');
    writeFileSync(program, `#!/bin/sh\n${text}\n`);
    chmodSync(program, 0o755);
    return { python: program, path: 'x' };
  }

  const send = (library: Library, url: string, more: object = {}, signal = deadline()): Promise<z.infer<typeof Sent>> =>
    library.run((child, stop) => child.request({ op: 'send', url, ...message, ...more }, Sent, stop), signal);

  it('replaces a process that does not respond in time', async () => {
    answer = (request, response) => (request.url?.startsWith('/hang') ? never() : fine(request, response));
    await using library = open();
    expect(await send(library, buildUrl('well'))).toMatchObject({ ok: true });
    const [before = 0] = await workers();
    await expect(send(library, buildUrl('hang'), {}, deadline(300))).rejects.toThrow();
    await vi.waitFor(async () => expect(await workers()).not.toContain(before), 10_000);
    expect(await send(library, buildUrl('well'))).toMatchObject({ ok: true });
  }, 60_000);

  it('ends when it is idle, and starts again on demand', async () => {
    const clock = createFakeClock();
    await using library = open(undefined, clock);
    await send(library, buildUrl('well'));
    const [before = 0] = await workers();
    clock.advance(6 * 60_000);
    await vi.waitFor(async () => expect(await workers()).not.toContain(before), 10_000);
    expect(await send(library, buildUrl('well'))).toMatchObject({ ok: true });
  }, 60_000);

  it.each([
    ['junk', 'while :; do echo "this is no answer"; done'],
    ['one line without an end', 'exec cat /dev/zero'],
    ['answers to nobody, and its end', 'echo \'{"id":77,"ok":true}\'; exit 0'],
  ])('ends a process that prints %s', async (_name, flood) => {
    await using library = open(writeProgram(`echo '{"ready":"9"}'\nread order\nread job\n${flood}`));
    await expect(send(library, buildUrl('well'))).rejects.toThrow('ended unexpectedly');
  });

  it('ends a process that never becomes ready', async () => {
    const clock = createFakeClock();
    await using library = open(writeProgram('exec sleep 1000'), clock);
    const sending = send(library, buildUrl('well')).catch((error: unknown) => error);
    let ended: unknown;
    void sending.then((error) => (ended = error));
    await vi.waitFor(() => {
      clock.advance(60_000);
      expect(ended).toBeInstanceOf(Error);
    });
    expect(String(ended)).toContain('did not get ready in time');
  });

  it('ignores the output of plugins', async () => {
    const packages = join(folder, 'plugin');
    mkdirSync(join(packages, 'apprise'), { recursive: true });
    // Wraps the real library with a plugin that prints a fake response and other output.
    writeFileSync(
      join(packages, 'apprise', '__init__.py'),
      `
import os, sys
sys.path.insert(0, ${JSON.stringify(getLibraryFolder('apprise-2'))})
del sys.modules['apprise']
import apprise
from apprise.plugins.flowtriq import NotifyFlowtriq
send = NotifyFlowtriq.send
def talkative(self, *rest, **named):
    print('{"id": 1, "ok": true}', flush=True)
    os.write(1, b'{"id": 1, "ok": true}\\n' * 100000)
    return send(self, *rest, **named)
NotifyFlowtriq.send = talkative
`,
    );
    await using library = open({ python, path: packages });
    // The log of the library contains long and unusual responses completely.
    answer = (_request, response) => void response.writeHead(500).end('x'.repeat(2_000_000));
    const sent = await send(library, buildUrl('well'));
    expect(sent.ok).toBe(false);
    expect(JSON.stringify(sent.log).length).toBeLessThan(20_000);
    expect(JSON.stringify(sent.log)).not.toContain('apikeyapikey');
  }, 60_000);

  it('sends only the files of a notification', async () => {
    await using library = open();
    const outside = join(folder, 'passwords.txt');
    writeFileSync(outside, 'the secret of the house');
    mkdirSync(join(folder, 'attachments'));
    writeFileSync(join(folder, 'attachments', 'a'), 'a cat');
    const bodies: string[] = [];
    answer = (request, response) => {
      request.on('data', () => undefined);
      response.end('{}');
    };
    server.prependListener('request', (request: IncomingMessage) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => bodies.push(Buffer.concat(chunks).toString()));
    });
    const url = `smseagle://tokentoken@127.0.0.1:${port}/15551234567`;
    const buildAttachment = (path: string): object => ({ attach: [{ path, name: 'cat.png', type: 'image/png' }] });
    expect(await send(library, url, buildAttachment(outside))).toMatchObject({ ok: false });
    expect(await send(library, url, buildAttachment(join(folder, 'attachments', '..', 'passwords.txt')))).toMatchObject(
      {
        ok: false,
      },
    );
    expect(bodies.join('')).not.toContain(Buffer.from('the secret of the house').toString('base64').slice(0, 20));
    await send(library, url, buildAttachment(join(folder, 'attachments', 'a')));
    expect(bodies.join('')).toContain(Buffer.from('a cat').toString('base64'));
  }, 60_000);

  it('follows no redirect to a local host that the URL does not name', async () => {
    await using library = open();
    answer = (request, response) => {
      if (request.url === '/away') response.writeHead(307, { location: `http://localhost:${port}/inner` }).end();
      else if (request.url === '/same') response.writeHead(307, { location: `http://127.0.0.1:${port}/there` }).end();
      else response.end('{}');
    };
    expect(await send(library, buildUrl('away'))).toMatchObject({ ok: false });
    expect(requestedUrls).toEqual(['/away']);
    await send(library, buildUrl('same'));
    expect(requestedUrls).toEqual(['/away', '/same', '/there']);
  }, 60_000);
});
