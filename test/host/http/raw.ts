import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createLog, type HostLog, type LogEntry } from '../../../main/host/log/log.ts';
import { createMetrics, type HostMetrics } from '../../../main/host/metrics/metrics.ts';
import { openListener, type Listener, type ListenerOptions } from '../../../main/host/http/listener.ts';

/** Log that stores its entries and prints nothing. */
export function quietLog(): HostLog & { entries(): readonly LogEntry[] } {
  const log = createLog({ level: 'debug', format: 'json', write: () => undefined });
  return Object.assign(log, { entries: () => log.recent({ limit: 5000 }) });
}

export interface Opened extends AsyncDisposable {
  readonly listener: Listener;
  readonly log: HostLog & { entries(): readonly LogEntry[] };
  readonly metrics: HostMetrics;
  readonly url: string;
  readonly host: string;
}

/** Opens a listener on a free port, with its own log and metrics; closed at the end of the block. */
export async function open(options: Partial<ListenerOptions> = {}): Promise<Opened> {
  const log = quietLog();
  const metrics = createMetrics({ version: '0.0.0' });
  const listener = await openListener({
    service: 'sample',
    port: 0,
    handler: { http: (_request, response) => void response.end('fine') },
    guard: { crossOrigin: 'refuse' },
    log: log.child('sample'),
    metrics: metrics.http,
    ...options,
  });
  const host = `127.0.0.1:${listener.port}`;
  return {
    listener,
    log,
    metrics,
    host,
    url: `http://${host}`,
    [Symbol.asyncDispose]: () => listener.close({ timeoutMs: 100 }),
  };
}

/** Opens a TCP connection to a listener. */
export async function dial(port: number, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Reads until the other side ends or resets the connection. */
export async function readAll(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  if (!socket.closed) await new Promise((resolve) => void socket.once('close', resolve));
  return Buffer.concat(parts).toString('latin1');
}

/** Sends raw bytes and returns the whole response; the request must end the connection, or the server does. */
export async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const socket = await dial(port);
  const response = readAll(socket);
  socket.write(bytes);
  return response;
}

/** Sends a request with exactly these header lines. */
export async function request(
  port: number,
  line: string,
  headers: readonly string[] = [],
  body = '',
): Promise<{ status: number; text: string }> {
  const text = await exchange(
    port,
    `${line} HTTP/1.1\r\n${[...headers, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`,
  );
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text };
}
