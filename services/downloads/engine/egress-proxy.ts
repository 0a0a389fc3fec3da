import { sendReply, startResponse } from '../../kit/http/respond.ts';
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

/** Resolves a host to an address that may be reached. */
export type ResolveAddress = (host: string) => Promise<string | Refusal>;

/** Headers of a single connection (RFC 9110, 7.6.1). */
const hopByHopPattern = /^(connection|proxy-.*|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/**
 * A proxy on this computer that reaches only public addresses. Redirects and manifests lead to addresses that a check
 * of the first address does not cover, and an external program follows them. The proxy connects to exactly the address
 * that it checked.
 */
export class EgressProxy implements AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly #server: Server;
  readonly #tunnels: Set<Duplex>;

  private constructor(server: Server, tunnels: Set<Duplex>) {
    this.#server = server;
    this.#tunnels = tunnels;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(resolveAddress: ResolveAddress): Promise<EgressProxy> {
    const tunnels = new Set<Duplex>();
    const server = createServer((request, response) => {
      forward(resolveAddress, request, response).catch((error: unknown) => refuse(response, 502, String(error)));
    });
    server.on('connect', (request: IncomingMessage, client: Duplex) => {
      tunnels.add(client);
      client.on('close', () => tunnels.delete(client)).on('error', () => undefined);
      tunnel(resolveAddress, request, client).catch(() => client.destroy());
    });
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
    return new EgressProxy(server, tunnels);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#tunnels) client.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function forward(
  resolveAddress: ResolveAddress,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = URL.parse(request.url ?? '');
  if (target?.protocol !== 'http:') return refuse(response, 400, 'Only http goes this way');
  const address = await resolveAddress(stripBrackets(target.hostname));
  if (typeof address !== 'string') return refuse(response, 403, address.msg);
  const headers = Object.entries(request.headers).filter(([name]) => !hopByHopPattern.test(name));
  const upstream = httpRequest({
    host: address,
    port: target.port || 80,
    agent: false,
    method: request.method,
    path: target.pathname + target.search,
    headers: { ...Object.fromEntries(headers), host: target.host },
  });
  upstream.on('error', (error) => (response.headersSent ? response.destroy() : refuse(response, 502, error.message)));
  upstream.on('response', (reply) => {
    const headers = Object.entries(reply.headers).flatMap(([name, value]) =>
      value === undefined || hopByHopPattern.test(name) ? [] : [[name, value] as const],
    );
    startResponse(response, reply.statusCode ?? 502, Object.fromEntries(headers), reply.statusMessage ?? '');
    // An aborted response is aborted here as well: the extractor must not treat a part as complete.
    reply.on('error', () => response.destroy()).pipe(response);
  });
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
}

async function tunnel(resolveAddress: ResolveAddress, request: IncomingMessage, client: Duplex): Promise<void> {
  const target = URL.parse(`http://${request.url ?? ''}`);
  const address = target === null ? { msg: 'No such host' } : await resolveAddress(stripBrackets(target.hostname));
  if (target === null || typeof address !== 'string') {
    const reason = typeof address === 'string' ? '' : toReasonPhrase(address.msg);
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
  sendReply(response, { status, reason: toReasonPhrase(reason) });
}

function toReasonPhrase(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?');
}

function stripBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
