import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { networkInterfaces } from 'node:os';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createFetch, type HostFetch } from '../../../main/host/fetch/fetch.ts';
import { OwnConnections } from '../../../main/host/fetch/own-connections.ts';
import { isOwnListener } from '../../../services/kit/own-listeners.ts';
import { quietLog } from '../http/raw.ts';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

const owner = { trust: 'owner' } as const;
const refused = { code: 'fetch.own_listener', status: 403 };

interface Listening {
  readonly port: number;
  readonly server: Server;
  readonly requests: IncomingMessage[];
}

async function serve(location?: string, host = '127.0.0.1'): Promise<Listening> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.writeHead(location === undefined ? 200 : 302, location === undefined ? {} : { location }).end('reached');
  }).listen(0, host);
  await once(server, 'listening');
  open.push({
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
  return { server, port: (server.address() as AddressInfo).port, requests };
}

function makeFetch(connections: OwnConnections): HostFetch {
  const names = (host: string) =>
    Promise.resolve(host === 'rebound.example' ? [{ address: '127.0.0.1', family: 4 }] : []);
  const fetch = createFetch({ log: quietLog(), ownConnections: connections, resolve: names, allowPrivate: () => true });
  open.push(fetch);
  return fetch;
}

describe('requests to own listeners', () => {
  it.each(['127.0.0.1', 'localhost', '0.0.0.0', '127.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]'])(
    'are refused for the host %s',
    async (host) => {
      const { port, requests } = await serve();
      const fetch = makeFetch(new OwnConnections(() => [`http://127.0.0.1:${String(port)}`]));
      await expect(fetch(`http://${host}:${String(port)}/`, owner)).rejects.toMatchObject(refused);
      expect(requests).toHaveLength(0);
    },
  );

  it('are refused for every address of this computer', async () => {
    const { port, requests } = await serve(undefined, '0.0.0.0');
    const fetch = makeFetch(new OwnConnections(() => [`https://nas.local:${String(port)}`]));
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    for (const { address } of addresses.filter(({ family }) => family === 'IPv4'))
      await expect(fetch(`http://${address}:${String(port)}/`, owner)).rejects.toMatchObject(refused);
    expect(requests).toHaveLength(0);
  });

  it('are refused after a redirect', async () => {
    const connections = await serve();
    const other = await serve(`http://127.0.0.1:${String(connections.port)}/add`);
    const fetch = makeFetch(new OwnConnections(() => [`http://127.0.0.1:${String(connections.port)}`]));
    await expect(fetch(`http://127.0.0.1:${String(other.port)}/`, owner)).rejects.toMatchObject(refused);
    expect(connections.requests).toHaveLength(0);
  });

  it('are refused for streams and connections', async () => {
    const { port, requests } = await serve();
    const fetch = makeFetch(new OwnConnections(() => [`http://127.0.0.1:${String(port)}`]));
    await expect(fetch.stream(`http://127.0.0.1:${String(port)}/`, owner)).rejects.toMatchObject(refused);
    await expect(fetch.connect({ host: 'rebound.example', port, ...owner })).rejects.toMatchObject(refused);
    expect(requests).toHaveLength(0);
  });

  it('are refused with an unverified certificate', async () => {
    const { port } = await serve();
    const fetch = makeFetch(new OwnConnections(() => [`http://127.0.0.1:${String(port)}`]));
    const options = { ...owner, verify: false };
    await expect(fetch(`http://127.0.0.1:${String(port)}/`, options)).rejects.toMatchObject(refused);
  });

  it('do not prevent access to other programs on the computer', async () => {
    const { port } = await serve();
    const fetch = makeFetch(new OwnConnections(() => ['http://127.0.0.1:1']));
    await expect(fetch(`http://127.0.0.1:${String(port)}/`, owner)).resolves.toMatchObject({ status: 200 });
  });
});

describe('connection of this process', () => {
  it('is recognized by the accepting listener until it closes', async () => {
    const connections = new OwnConnections();
    const seen: boolean[] = [];
    const { port, server } = await serve();
    server.on('request', (request: IncomingMessage) => seen.push(connections.includes(request.socket)));
    const fetch = makeFetch(connections);
    await fetch(`http://127.0.0.1:${String(port)}/`, owner);
    await globalThis.fetch(`http://127.0.0.1:${String(port)}/`);
    expect(seen).toEqual([true, false]);
  });
});

describe('isOwnListener', () => {
  it('uses the port of the scheme when an address names none', () => {
    const ends = { remoteAddress: '::ffff:127.0.0.1', remotePort: 443, localAddress: '127.0.0.1' };
    expect(isOwnListener(ends, ['https://nas.local'])).toBe(true);
    expect(isOwnListener(ends, ['http://nas.local'])).toBe(false);
  });

  it('accepts the same port of another computer', () => {
    const ends = { remoteAddress: '192.0.2.7', remotePort: 8000, localAddress: '192.0.2.6' };
    expect(isOwnListener(ends, ['http://127.0.0.1:8000'])).toBe(false);
  });
});
