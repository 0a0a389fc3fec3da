import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { defineRoute, implement } from '../../services/contracts/api.ts';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import { defineJob } from '../../services/contracts/jobs.ts';
import { Problem } from '../../services/contracts/problem.ts';
import { defineService, type Context, type Service, type ServiceDescriptor } from '../../services/contracts/service.ts';
import { control } from '../../services/control/index.ts';
import { api } from '../support/api.ts';
import { createFakeClock } from '../support/clock.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';
import { openPostgresDatabase } from '../support/postgres.ts';

const Settings = z.object({
  word: z.string().default('calm').meta({ title: 'Word', description: 'Any word.', live: true }),
});
const greeting = defineRoute({
  method: 'GET',
  path: '/api/harbour/greeting',
  summary: 'Returns the word.',
  access: 'user',
  reply: z.object({ word: z.string() }),
});
const tideJob = defineJob('harbour.tide', z.object({ height: z.number() }));

/** What the service under test does, and what happened to it. */
let behavior: {
  used: boolean;
  loadCode: () => Promise<void>;
  start: (context: Context) => Promise<void>;
  extra: Partial<Service>;
};
let events: string[];
let heights: number[];

const loadedHarbour = defineService({
  id: 'harbour',
  title: 'Harbour',
  summary: 'For tests.',
  listeners: [
    { name: 'http', title: 'Harbour', protocol: 'http', port: 0 },
    { name: 'raw', title: 'Lines', protocol: 'tcp', port: 0 },
  ],
  settings: Settings,
  environment: {},
  migrations: [],
  excludedFromCopy: ['ships'],
  loadOnDemand: {
    isUsed: async () => behavior.used,
    health: { state: 'up', detail: 'not used yet' },
  },
  create(context, settings): Service {
    events.push('created');
    let { word } = settings;
    return {
      http: (request, response) => void text(request).then((body) => response.end(`${word} ${body}`)),
      listeners: { raw: { tcp: (socket) => void socket.pipe(socket) } },
      api: [implement(greeting, async () => ({ word }))],
      async start() {
        context.jobs.handle(tideJob, async ({ payload }) => void heights.push(payload.height));
        await behavior.start(context);
        events.push('started');
      },
      health: async () => ({ state: 'up', detail: 'in use' }),
      async reconfigure(changed) {
        ({ word } = Settings.parse(changed));
      },
      async backup(folder) {
        writeFileSync(join(folder, 'ships.txt'), 'three');
        events.push('backed up');
      },
      async restore(folder) {
        events.push(`restored ${existsSync(join(folder, 'ships.txt')) ? 'ships' : 'nothing'}`);
      },
      async [Symbol.asyncDispose]() {
        events.push('disposed');
      },
      ...behavior.extra,
    };
  },
});

const harbour: ServiceDescriptor = {
  ...loadedHarbour,
  async create(context, settings) {
    await behavior.loadCode();
    return loadedHarbour.create(context, settings);
  },
};

let folder: string;
beforeEach(() => {
  behavior = { used: false, loadCode: async () => undefined, start: async () => undefined, extra: {} };
  events = [];
  heights = [];
  folder = mkdtempSync(join(tmpdir(), 'homeport-on-demand-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const openHost = (options: Parameters<typeof openTestHost>[0] = {}): Promise<TestHost> =>
  openTestHost({ services: [control, harbour], dataDir: folder, ...options });

async function getState(host: TestHost): Promise<ServiceState | undefined> {
  const { services } = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
  return services.find(({ id }) => id === 'harbour');
}

const send = (host: TestHost, body: string): Promise<Response> => fetch(host.url('harbour'), { method: 'POST', body });

describe('service that is loaded on demand', () => {
  it('listens and reports its health before its code is loaded', async () => {
    await using host = await openHost();
    expect(await getState(host)).toMatchObject({ state: 'up', detail: 'not used yet' });
    expect(events).toEqual([]);
  });

  it('answers the first request with its complete body, and then reports its own health', async () => {
    await using host = await openHost();
    const body = 'x'.repeat(300_000);
    expect(await (await send(host, body)).text()).toBe(`calm ${body}`);
    expect(events).toEqual(['created', 'started']);
    expect((await getState(host))?.detail).toBe('in use');
  });

  it('is loaded once for concurrent first requests', async () => {
    await using host = await openHost();
    const { promise, resolve } = Promise.withResolvers<void>();
    behavior.start = () => promise;
    const replies = Array.from({ length: 20 }, async (_, index) => (await send(host, String(index))).text());
    await vi.waitFor(() => expect(events).toEqual(['created']));
    resolve();
    expect(await Promise.all(replies)).toEqual(Array.from({ length: 20 }, (_, index) => `calm ${String(index)}`));
    expect(events).toEqual(['created', 'started']);
  });

  it('is loaded by a connection of another protocol, whose first bytes arrive', async () => {
    await using host = await openHost();
    const port = Number(new URL(host.host.addresses()['harbour.raw'] ?? '').port);
    const socket = connect(port, '127.0.0.1');
    socket.end('ahoy');
    expect(await text(socket)).toBe('ahoy');
    expect(events).toEqual(['created', 'started']);
  });

  it('is loaded by a request to its part of the app API', async () => {
    await using host = await openHost();
    expect(await api(host.url('control'), '/api/harbour/greeting')).toEqual({ word: 'calm' });
  });

  it('is loaded although the client whose request loads it disconnects', async () => {
    await using host = await openHost();
    const { promise, resolve } = Promise.withResolvers<void>();
    behavior.start = async ({ reads }) => {
      await promise;
      await reads.selectFrom('jobs').selectAll().execute();
    };
    const url = new URL('/api/accounts/ada/data', host.url('control'));
    const client = request(url, { headers: { Authorization: adminAuthorization } }).on('error', () => undefined);
    client.end();
    await vi.waitFor(() => expect(events).toEqual(['created']));
    client.destroy();
    // Until the host has received the disconnect.
    await setTimeout(100);
    resolve();
    expect(await (await send(host, 'ahoy')).text()).toBe('calm ahoy');
    expect(events).toEqual(['created', 'started']);
  });

  it('is contained in the OpenAPI document', async () => {
    await using host = await openHost();
    const { paths } = await api<{ paths: object }>(host.url('control'), '/api/openapi.json');
    expect(Object.keys(paths)).toContain('/api/harbour/greeting');
  });

  it('serves its metrics page as a loaded service does', async () => {
    await using host = await openHost();
    const reply = await fetch(`${host.url('harbour')}/metrics`);
    expect(reply.headers.get('content-type')).toContain('text/plain');
    expect(events).toEqual(['created', 'started']);
  });

  it('uses settings that were changed before it was loaded, and those changed afterwards', async () => {
    await using host = await openHost();
    const change = (word: string) =>
      api(host.url('control'), '/api/settings/harbour', { method: 'PATCH', body: JSON.stringify({ word }) });
    await change('stormy');
    expect(events).toEqual([]);
    expect(await (await send(host, '')).text()).toBe('stormy ');
    await change('foggy');
    expect(await (await send(host, '')).text()).toBe('foggy ');
    expect(events).toEqual(['created', 'started']);
  });

  it('is restarted for settings that changed while it was loaded, if it cannot apply them', async () => {
    await using host = await openHost();
    const { promise, resolve } = Promise.withResolvers<void>();
    behavior.start = () => promise;
    behavior.extra = { reconfigure: undefined };
    const reply = send(host, '');
    await vi.waitFor(() => expect(events).toEqual(['created']));
    const change = api(host.url('control'), '/api/settings/harbour', { method: 'PATCH', body: '{"word":"foggy"}' });
    // Until the host applies the change.
    await setTimeout(100);
    resolve();
    await Promise.all([reply, change]);
    // The restart waits for running requests.
    await vi.waitFor(async () => expect(await (await send(host, '')).text()).toBe('foggy '), { timeout: 5000 });
  });
});

describe('service that is loaded on demand, at the start', () => {
  it('is loaded when it is used', async () => {
    behavior.used = true;
    await using _host = await openHost();
    expect(events).toEqual(['created', 'started']);
  });

  it('is loaded when other hosts can share its database', async () => {
    await using server = await openPostgresDatabase();
    await using _host = await openHost({ environment: { HOMEPORT_DATABASE_URL: server.url } });
    expect(events).toEqual(['created', 'started']);
  });

  it('is loaded when it has a pending job', async () => {
    behavior.start = async ({ commit, jobs, clock }) => {
      await commit((db) => jobs.enqueue(db, tideJob, { height: 3 }, { runAt: clock.now() + 3_600_000 }));
    };
    {
      await using host = await openHost();
      await send(host, '');
    }
    behavior.start = async () => undefined;
    events = [];
    const clock = createFakeClock(Date.now() + 7_200_000);
    await using _host = await openHost({ clock });
    expect(events).toEqual(['created', 'started']);
    await vi.waitFor(() => expect(heights).toEqual([3]));
  });

  it('is loaded when a backup of it waits to be restored', async () => {
    mkdirSync(join(folder, 'harbour', '.backup'), { recursive: true });
    writeFileSync(join(folder, 'harbour', '.backup', 'ships.txt'), 'three');
    await using _host = await openHost();
    expect(events).toEqual(['created', 'restored ships', 'started']);
  });
});

describe('backup of a service that is loaded on demand', () => {
  let backups: string;
  beforeEach(() => {
    backups = mkdtempSync(join(tmpdir(), 'homeport-on-demand-backups-'));
  });
  afterEach(() => rmSync(backups, { recursive: true, force: true }));

  async function createBackup(): Promise<void> {
    await using host = await openHost({ environment: { HOMEPORT_BACKUP_FOLDER: backups } });
    await api(host.url('control'), '/api/backups', { method: 'POST', body: '{}' });
  }

  it('contains what the service saves itself', async () => {
    mkdirSync(join(folder, 'harbour', 'ships'), { recursive: true });
    await createBackup();
    expect(events).toEqual(['created', 'started', 'backed up', 'disposed']);
  });

  it('does not load a service without such files', async () => {
    await createBackup();
    expect(events).toEqual([]);
  });
});

describe('failed load of a service', () => {
  it('is answered with the reason, shown as the state, and repeated until it succeeds', async () => {
    const clock = createFakeClock(Date.now());
    await using host = await openHost({ clock });
    behavior.start = () => Promise.reject(new Problem('harbour.frozen', 500, 'The harbour is frozen.'));
    const reply = await send(host, '');
    expect(reply.status).toBe(503);
    expect(await reply.text()).toContain('The harbour is frozen.');
    await vi.waitFor(async () =>
      expect(await getState(host)).toMatchObject({ state: 'failed', reason: 'The harbour is frozen.' }),
    );
    behavior.start = async () => undefined;
    await vi.waitFor(async () => {
      clock.advance(30_000);
      expect((await getState(host))?.detail).toBe('in use');
    });
    expect(await (await send(host, 'again')).text()).toBe('calm again');
  });

  it('leaves the service out of the OpenAPI document', async () => {
    await using host = await openHost();
    behavior.start = () => Promise.reject(new Error('no water'));
    const { paths } = await api<{ paths: object }>(host.url('control'), '/api/openapi.json');
    expect(Object.keys(paths)).toContain('/api/services');
    expect(Object.keys(paths)).not.toContain('/api/harbour/greeting');
  });

  it('disposes what was created', async () => {
    await using host = await openHost();
    behavior.start = () => Promise.reject(new Error('no water'));
    await send(host, '');
    await vi.waitFor(() => expect(events).toContain('disposed'));
    expect(events.filter((event) => event === 'started')).toEqual([]);
  });
});

describe('stop of a service that is loaded on demand', () => {
  it('creates nothing when no request came', async () => {
    await (await openHost())[Symbol.asyncDispose]();
    expect(events).toEqual([]);
  });

  it('does not start a service whose code is being loaded', async () => {
    const host = await openHost();
    const { promise, resolve } = Promise.withResolvers<void>();
    behavior.loadCode = () => {
      events.push('code requested');
      return promise;
    };
    const socket = connect(Number(new URL(host.host.addresses()['harbour.raw'] ?? '').port), '127.0.0.1');
    await vi.waitFor(() => expect(events).toEqual(['code requested']));
    const closed = host[Symbol.asyncDispose]();
    await once(socket, 'close');
    resolve();
    await closed;
    expect(events).toEqual(['code requested', 'created', 'disposed']);
  });

  it('ends a load that does not finish', async () => {
    const host = await openHost();
    behavior.start = () => new Promise(() => undefined);
    const port = Number(new URL(host.host.addresses()['harbour.raw'] ?? '').port);
    const socket = connect(port, '127.0.0.1');
    const closed = once(socket, 'close');
    await vi.waitFor(() => expect(events).toEqual(['created']));
    await host[Symbol.asyncDispose]();
    await closed;
    expect(events).toEqual(['created', 'disposed']);
  });
});
