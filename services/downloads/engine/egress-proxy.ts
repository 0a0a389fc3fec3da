import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Refusal } from '../domain/address.ts';

/** Where a host is, when it may be reached. */
export type AddressOf = (host: string) => Promise<string | Refusal>;

/** What concerns one connection alone (RFC 9110, 7.6.1). */
const hopByHop = /^(connection|proxy-.*|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/**
 * A proxy on this machine that leads outward only: redirects and manifests of a site lead where no look at its first
 * address can tell, and a program that is not ours follows them. It connects to the very address that it has judged.
 */
export class OutwardProxy implements AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly #server: Server;
  readonly #tunnels: Set<Duplex>;

  private constructor(server: Server, tunnels: Set<Duplex>) {
    this.#server = server;
    this.#tunnels = tunnels;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(addressOf: AddressOf): Promise<OutwardProxy> {
    const tunnels = new Set<Duplex>();
    const server = createServer((request, response) => {
      forward(addressOf, request, response).catch((error: unknown) => refuse(response, 502, String(error)));
    });
    server.on('connect', (request: IncomingMessage, client: Duplex) => {
      tunnels.add(client);
      client.on('close', () => tunnels.delete(client)).on('error', () => undefined);
      tunnel(addressOf, request, client).catch(() => client.destroy());
    });
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
    return new OutwardProxy(server, tunnels);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#tunnels) client.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function forward(addressOf: AddressOf, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = URL.parse(request.url ?? '');
  if (target?.protocol !== 'http:') return refuse(response, 400, 'Only http goes this way');
  const address = await addressOf(plainHost(target.hostname));
  if (typeof address !== 'string') return refuse(response, 403, address.msg);
  const headers = Object.entries(request.headers).filter(([name]) => !hopByHop.test(name));
  const upstream = httpRequest({
    ...{ host: address, port: target.port || 80, agent: false, method: request.method },
    path: target.pathname + target.search,
    headers: { ...Object.fromEntries(headers), host: target.host },
  });
  upstream.on('error', (error) => (response.headersSent ? response.destroy() : refuse(response, 502, error.message)));
  upstream.on('response', (reply) => {
    const kept = Object.entries(reply.headers).filter(([name]) => !hopByHop.test(name));
    response.writeHead(reply.statusCode ?? 502, reply.statusMessage ?? '', Object.fromEntries(kept));
    // Cut off there is cut off here: the extractor must not take the part for the whole.
    reply.on('error', () => response.destroy()).pipe(response);
  });
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
}

async function tunnel(addressOf: AddressOf, request: IncomingMessage, client: Duplex): Promise<void> {
  const target = URL.parse(`http://${request.url ?? ''}`);
  const address = target === null ? { msg: 'No such host' } : await addressOf(plainHost(target.hostname));
  if (target === null || typeof address !== 'string') {
    const reason = typeof address === 'string' ? '' : oneLine(address.msg);
    client.end(`HTTP/1.1 403 ${reason}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    return;
  }
  const upstream: Socket = connect({ host: address, port: Number(target.port || 80) });
  upstream.on('error', () => client.destroy());
  upstream.on('close', () => client.destroy());
  client.on('close', () => upstream.destroy());
  upstream.once('connect', () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    upstream.pipe(client).pipe(upstream);
  });
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, oneLine(reason), { 'Content-Length': 0 }).end();
}

function oneLine(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?');
}

function plainHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
