import { Resolver } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import { beatStatus } from '../../contracts/uptime/monitor.ts';
import { connectTo } from './connect.ts';
import { CheckFailure } from './failure.ts';
import type { Found, ProbeOrder } from './probe.ts';

/** TCP: something takes the connection. */
export async function probePort({ config, signal }: ProbeOrder): Promise<Found> {
  const began = performance.now();
  const socket = await connectTo({ host: config.hostname ?? '', port: config.port ?? 0, signal });
  socket.destroy();
  const ping = Math.round(performance.now() - began);
  return { status: beatStatus.up, msg: `${String(ping)} ms`, ping };
}

/** SMTP: a server greets. */
export async function probeSmtp({ config, signal }: ProbeOrder): Promise<Found> {
  const socket = await connectTo({ host: config.hostname ?? '', port: config.port ?? 25, signal });
  try {
    const greeting = await firstLine(socket, signal);
    if (!greeting.startsWith('220')) throw new CheckFailure(`The server greets with ${greeting.slice(0, 100)}`);
    socket.end('QUIT\r\n');
    return { status: beatStatus.up, msg: 'SMTP connection verifies successfully' };
  } finally {
    socket.destroySoon();
  }
}

/** WebSocket: the upgrade succeeds. */
export function probeWebSocket({ config, signal }: ProbeOrder): Promise<Found> {
  return new Promise((resolve, reject) => {
    const url = URL.parse(config.url ?? '');
    if (url === null || (url.protocol !== 'ws:' && url.protocol !== 'wss:')) throw new CheckFailure('Invalid URL');
    const socket = new WebSocket(url, { rejectUnauthorized: config.ignoreTls !== true, maxPayload: 65_536 });
    const abort = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error('given up'));
      socket.terminate();
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.on('error', reject);
    socket.once('open', () => {
      socket.close();
      resolve({ status: beatStatus.up, msg: '1000 - OK' });
    });
    socket.once('close', () => signal.removeEventListener('abort', abort));
  });
}

const recordTypes = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'] as const;

/** DNS: the server knows records of the type. */
export async function probeDns({ config, signal }: ProbeOrder): Promise<Found> {
  const type = recordTypes.find((one) => one === (config.dns_resolve_type ?? 'A').toUpperCase());
  if (type === undefined) throw new CheckFailure(`There are no records of type ${config.dns_resolve_type ?? ''}`);
  const resolver = new Resolver();
  const servers = (config.dns_resolve_server || '1.1.1.1').split(',').map((server) => server.trim());
  const port = config.port ?? 53;
  resolver.setServers(servers.map((server) => (isIP(server) === 6 ? `[${server}]:${port}` : `${server}:${port}`)));
  const abort = (): void => resolver.cancel();
  signal.addEventListener('abort', abort, { once: true });
  try {
    const records: unknown = await resolver.resolve(config.hostname ?? '', type);
    const list: readonly unknown[] = Array.isArray(records) ? records : [records];
    return { status: beatStatus.up, msg: `Records: ${list.map(recordText).join(' | ')}`.slice(0, 1000) };
  } catch (error) {
    throw signal.aborted && signal.reason instanceof Error ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function recordText(record: unknown): string {
  if (Array.isArray(record)) return record.join('');
  return typeof record === 'string' ? record : JSON.stringify(record);
}

function firstLine(socket: Socket, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('given up'));
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', reject);
    socket.once('close', () => reject(new CheckFailure('The server hung up without a greeting')));
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end).trim());
      else if (text.length > 4096) reject(new CheckFailure('The greeting has no end'));
    });
  });
}
