import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { WebSocket } from 'ws';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { conditionsHold, hasConditions } from '../domain/conditions.ts';
import { openConnection, toFamily } from './connect.ts';
import { formatRecords, recordTypes, resolveRecords } from './dns-records.ts';
import { CheckFailure, createSettingsFailure } from './failure.ts';
import type { CheckOutcome, CheckContext } from './probe.ts';
import { greetAndStartTls, getTlsOptions } from './smtp.ts';
import { assertAllowedTarget, guardedLookup } from './target-policy.ts';

/**
 * Checks that a TCP port accepts connections. When the certificate expiry is monitored, the port must also encrypt as
 * `smtpSecurity` says, with a trusted certificate.
 */
export async function probePort(context: CheckContext): Promise<CheckOutcome> {
  const { config, signal } = context;
  const encryption = config.expiryNotification === true ? config['smtpSecurity'] : undefined;
  const isEncrypted = encryption === 'secure' || encryption === 'starttls';
  const host = config.hostname ?? '';
  const startedAt = performance.now();
  const socket = await openConnection({
    host,
    port: config.port ?? 0,
    family: toFamily(config.ipFamily),
    use: isEncrypted ? 'exchange' : 'connect',
    tls: encryption === 'secure' ? getTlsOptions(context) : undefined,
    signal,
  });
  const ping = Math.round(performance.now() - startedAt);
  try {
    if (encryption === 'starttls') await greetAndStartTls(socket, host, context);
  } finally {
    socket.destroy();
  }
  return { status: heartbeatStatus.up, msg: `${String(ping)} ms`, ping };
}

/** Checks that a WebSocket upgrade succeeds. */
export function probeWebSocket({ config, signal }: CheckContext): Promise<CheckOutcome> {
  return new Promise((resolve, reject) => {
    const url = URL.parse(config.url ?? '');
    if (url === null || (url.protocol !== 'ws:' && url.protocol !== 'wss:'))
      throw new CheckFailure('Invalid URL', { notChecked: true });
    const port = url.port === '' ? (url.protocol === 'wss:' ? 443 : 80) : Number(url.port);
    assertAllowedTarget(url.hostname, port, 'exchange');
    const subprotocolOption = config['wsSubprotocol'];
    const subprotocols = (typeof subprotocolOption === 'string' ? subprotocolOption : '')
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
export async function probeDns({ config, signal }: CheckContext): Promise<CheckOutcome> {
  const type = recordTypes.find((one) => one === (config.dns_resolve_type ?? 'A').toUpperCase());
  if (type === undefined) throw createSettingsFailure('record_type_unknown', { type: config.dns_resolve_type ?? '' });
  const resolver = new Resolver();
  const servers = (config.dns_resolve_server || '1.1.1.1').split(',').map((server) => server.trim());
  const port = config.port ?? 53;
  for (const server of servers) assertAllowedTarget(server, port, 'exchange');
  resolver.setServers(servers.map((server) => (isIP(server) === 6 ? `[${server}]:${port}` : `${server}:${port}`)));
  const abort = (): void => resolver.cancel();
  signal.addEventListener('abort', abort, { once: true });
  try {
    const answers = await resolveRecords(resolver, config.hostname ?? '', type);
    const msg = formatRecords(type, answers).slice(0, 1000);
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
