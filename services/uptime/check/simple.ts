import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { WebSocket } from 'ws';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { conditionsHold, hasConditions } from '../domain/conditions.ts';
import { connectTo, familyOf } from './connect.ts';
import { recordsMessage, recordTypes, resolveRecords } from './dns-records.ts';
import { CheckFailure, notChecked } from './failure.ts';
import type { Found, ProbeOrder } from './probe.ts';
import { greetAndStartTls, tlsWishes } from './smtp.ts';
import { assertAllowedTarget, guardedLookup } from './target-policy.ts';

/**
 * Checks that a TCP port accepts connections. When the certificate expiry is monitored, the port must also encrypt as
 * `smtpSecurity` says, with a trusted certificate.
 */
export async function probePort(order: ProbeOrder): Promise<Found> {
  const { config, signal } = order;
  const security = config.expiryNotification === true ? config['smtpSecurity'] : undefined;
  const isEncrypted = security === 'secure' || security === 'starttls';
  const host = config.hostname ?? '';
  const began = performance.now();
  const socket = await connectTo({
    host,
    port: config.port ?? 0,
    family: familyOf(config.ipFamily),
    use: isEncrypted ? 'exchange' : 'connect',
    tls: security === 'secure' ? tlsWishes(order) : undefined,
    signal,
  });
  const ping = Math.round(performance.now() - began);
  try {
    if (security === 'starttls') await greetAndStartTls(socket, host, order);
  } finally {
    socket.destroy();
  }
  return { status: heartbeatStatus.up, msg: `${String(ping)} ms`, ping };
}

/** Checks that a WebSocket upgrade succeeds. */
export function probeWebSocket({ config, signal }: ProbeOrder): Promise<Found> {
  return new Promise((resolve, reject) => {
    const url = URL.parse(config.url ?? '');
    if (url === null || (url.protocol !== 'ws:' && url.protocol !== 'wss:')) throw notChecked('Invalid URL');
    const port = url.port === '' ? (url.protocol === 'wss:' ? 443 : 80) : Number(url.port);
    assertAllowedTarget(url.hostname, port, 'exchange');
    const wished = config['wsSubprotocol'];
    const subprotocols = (typeof wished === 'string' ? wished : '')
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
    const socket = new WebSocket(url, subprotocols, {
      rejectUnauthorized: config.ignoreTls !== true,
      maxPayload: 65_536,
      followRedirects: false,
      lookup: guardedLookup(port, 'exchange'),
      ...(config.tlsCa ? { ca: config.tlsCa } : {}),
    });
    const abort = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error('given up'));
      socket.terminate();
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.on('error', reject);
    socket.once('open', () => {
      socket.close();
      resolve({ status: heartbeatStatus.up, msg: '1000 - OK' });
    });
    socket.once('close', () => signal.removeEventListener('abort', abort));
  });
}

/** Checks that a DNS server returns records of the type. */
export async function probeDns({ config, signal }: ProbeOrder): Promise<Found> {
  const type = recordTypes.find((one) => one === (config.dns_resolve_type ?? 'A').toUpperCase());
  if (type === undefined) throw notChecked(`There are no records of type ${config.dns_resolve_type ?? ''}`);
  const resolver = new Resolver();
  const servers = (config.dns_resolve_server || '1.1.1.1').split(',').map((server) => server.trim());
  const port = config.port ?? 53;
  for (const server of servers) assertAllowedTarget(server, port, 'exchange');
  resolver.setServers(servers.map((server) => (isIP(server) === 6 ? `[${server}]:${port}` : `${server}:${port}`)));
  const abort = (): void => resolver.cancel();
  signal.addEventListener('abort', abort, { once: true });
  try {
    const answers = await resolveRecords(resolver, config.hostname ?? '', type);
    const msg = recordsMessage(type, answers).slice(0, 1000);
    const { conditions } = config;
    const holds =
      !hasConditions(conditions) || answers.some(({ value }) => conditionsHold(conditions, { record: value }));
    if (!holds) throw new CheckFailure(msg);
    return { status: heartbeatStatus.up, msg };
  } catch (error) {
    throw signal.aborted && signal.reason instanceof Error ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
