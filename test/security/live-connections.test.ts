import { once } from 'node:events';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { control } from '../../services/control/index.ts';
import { downloads } from '../../services/downloads/index.ts';
import { push } from '../../services/push/index.ts';
import { uptime } from '../../services/uptime/index.ts';
import { openAccessHost, type AccessHost } from '../support/access.ts';
import { createFakeClock, type FakeClock } from '../support/clock.ts';

const hour = 60 * 60_000;
const grants = (['push', 'downloads', 'uptime'] as const).map((service) => ({
  ...{ service, resource: '*' },
  permission: 'read' as const,
}));
let clock: FakeClock;
let host: AccessHost;
beforeEach(async () => {
  clock = createFakeClock(Date.now());
  host = await openAccessHost({ mia: grants }, { services: [control, push, downloads, uptime], clock });
  await setTrust(false);
});
afterEach(() => host[Symbol.asyncDispose]());

const setTrust = (trustLocalPrograms: boolean): Promise<Response> =>
  host.call('admin', 'control', 'PATCH', '/api/settings/downloads', { trustLocalPrograms });

async function createToken(): Promise<{ readonly id: string; readonly text: string }> {
  const body = { label: 'a client', expiresAt: clock.now() + hour };
  const reply = await host.call('admin', 'control', 'POST', '/api/accounts/mia/tokens', body);
  const { token, text } = (await reply.json()) as { readonly token: { readonly id: string }; readonly text: string };
  return { id: token.id, text };
}

/** Open connection of a client. */
interface Connection {
  /** Resolves when Homeport ends the connection. */
  readonly ended: Promise<unknown>;
  readonly isOpen: () => boolean;
}

type Open = (headers: Record<string, string>, token: string) => Promise<Connection>;

async function openStream(url: string, headers: Record<string, string>): Promise<Connection> {
  const reply = await fetch(url, { headers });
  expect(reply.status).toBe(200);
  let isOpen = true;
  const ended = (async () => {
    try {
      for await (const _part of reply.body ?? []) continue;
    } finally {
      isOpen = false;
    }
  })();
  return { ended: ended.catch(() => undefined), isOpen: () => isOpen };
}

async function openWebSocket(url: string, headers: Record<string, string>): Promise<Connection> {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers });
  const ended = once(socket, 'close');
  await once(socket, 'open');
  return { ended, isOpen: () => socket.readyState === socket.OPEN };
}

function openSocketIo(transport: 'polling' | 'websocket'): Open {
  return async (headers) => {
    const options = { transports: [transport], forceNew: true, reconnection: false, extraHeaders: headers };
    const socket = io(host.rig.url('downloads'), options);
    const ended = new Promise((resolve) => socket.once('disconnect', resolve));
    await new Promise((resolve, reject) => socket.once('all', resolve).once('connect_error', reject));
    return { ended, isOpen: () => socket.connected };
  };
}

const connections: Readonly<Record<string, Open>> = {
  'the stream of a topic': (headers) => openStream(`${host.rig.url('push')}/news/json`, headers),
  'the WebSocket of a topic': (headers) => openWebSocket(`${host.rig.url('push')}/news/ws`, headers),
  'the events of the app': (headers) => openStream(`${host.rig.url('control')}/api/events`, headers),
  'the Socket.IO client of downloads': openSocketIo('websocket'),
  'the Socket.IO client of downloads without a WebSocket': openSocketIo('polling'),
  'the Socket.IO client of monitors': async (_headers, token) => {
    const socket = io(host.rig.url('uptime'), { transports: ['websocket'], forceNew: true, reconnection: false });
    const ended = new Promise((resolve) => socket.once('disconnect', resolve));
    expect(await socket.emitWithAck('loginByToken', token)).toMatchObject({ ok: true });
    return { ended, isOpen: () => socket.connected };
  },
};

const ends: Readonly<Record<string, (token: string) => unknown>> = {
  'its token expires': () => clock.advance(hour + 1),
  'its token is revoked': (id) => host.call('admin', 'control', 'DELETE', `/api/accounts/mia/tokens/${id}`),
  'the account is disabled': () => host.call('admin', 'control', 'PATCH', '/api/accounts/mia', { enabled: false }),
  'the account loses its grants': () => host.call('admin', 'control', 'PATCH', '/api/accounts/mia', { grants: [] }),
};

/** Connections that show only what the account may still read. */
const filtered = new Set(['the events of the app']);

describe.each(Object.entries(connections))('%s', (name, open) => {
  it.each(Object.entries(ends))('ends within a minute when %s', async (reason, end) => {
    const { id, text } = await createToken();
    const connection = await open({ Authorization: `Bearer ${text}` }, text);
    clock.advance(60_000);
    expect(connection.isOpen()).toBe(true);
    await end(id);
    if (filtered.has(name) && reason === 'the account loses its grants') return;
    clock.advance(60_000);
    await connection.ended;
  });
});

describe('a Socket.IO client of downloads without a sign-in', () => {
  it('is disconnected when programs on this computer are no longer trusted', async () => {
    await setTrust(true);
    const connection = await openSocketIo('websocket')({}, '');
    clock.advance(60_000);
    expect(connection.isOpen()).toBe(true);
    await setTrust(false);
    clock.advance(60_000);
    await connection.ended;
    await vi.waitFor(() => expect(connection.isOpen()).toBe(false));
  });
});
