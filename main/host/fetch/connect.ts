import { isIP, connect as connectTcp, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { connect as connectTls, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { findCertificateProblem, getUntrustedText } from '../../../services/contracts/certificates.ts';
import type { CertificateInfo, OutgoingConnection, ConnectOptions } from '../../../services/contracts/outgoing.ts';
import { checkedLookup, buildRefusedAddressProblem, type IsRefused, type Resolve } from './connector.ts';
import { explainFailure } from './explain.ts';
import type { OwnConnections } from './own-connections.ts';

const defaultTimeoutMs = 10_000;

interface ConnectionRules {
  readonly resolve: Resolve;
  readonly isRefused: IsRefused | undefined;
  readonly ownConnections: OwnConnections;
}

/** Opens a connection, see `Connect`. `isRefused` undefined: every address is allowed. */
export async function openConnection(
  options: ConnectOptions,
  { resolve, isRefused, ownConnections }: ConnectionRules,
): Promise<OutgoingConnection> {
  const { port, signal, timeoutMs = defaultTimeoutMs } = options;
  const host = options.host.replace(/^\[|\]$/g, '');
  signal?.throwIfAborted();
  if (isIP(host) !== 0 && isRefused?.(host) === true) throw buildRefusedAddressProblem(host);
  const startedAt = performance.now();
  const times: { resolved?: number; connected?: number } = {};
  const socket = connectTcp({
    host,
    port,
    autoSelectFamily: true,
    lookup: checkedLookup(resolve, isRefused ?? (() => false)),
  });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  let timeoutProblem: number | undefined;
  const timer = setTimeout(() => {
    timeoutProblem = timeoutMs;
    socket.destroy(new Error('too late'));
  }, timeoutMs);
  const abort = (): void =>
    void socket.destroy(signal?.reason instanceof Error ? signal.reason : new Error('given up'));
  signal?.addEventListener('abort', abort, { once: true });
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('closed')));
  socket.once('lookup', () => (times.resolved = performance.now()));
  try {
    await Promise.race([failed, opened(socket, 'connect')]);
    ownConnections.admit(socket, `${host}:${String(port)}`);
    times.connected = performance.now();
    const resolved = times.resolved ?? startedAt;
    const phases = { dns: resolved - startedAt, connect: times.connected - resolved };
    const address = socket.remoteAddress ?? host;
    if (options.tls === undefined)
      return { socket, address, phases: { ...phases, tls: undefined }, certificate: undefined, protocol: undefined };
    const secured = secure(socket, host, options.tls);
    secured.once('error', reject);
    await Promise.race([failed, opened(secured, 'secureConnect')]);
    return {
      socket: secured,
      address,
      phases: { ...phases, tls: performance.now() - times.connected },
      certificate: toCertificateInfo(secured),
      protocol: secured.alpnProtocol === false || secured.alpnProtocol === null ? undefined : secured.alpnProtocol,
    };
  } catch (error) {
    socket.destroy();
    if (signal?.aborted === true) throw signal.reason;
    throw explainFailure(error, `${host}:${String(port)}`, timeoutProblem);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    failed.catch(() => undefined);
  }
}

/** Begins the TLS handshake; a server without a name is verified by its address. */
function secure(socket: Socket, host: string, tls: NonNullable<ConnectOptions['tls']>): TLSSocket {
  const { servername = isIP(host) === 0 ? host : '', verify = true, alpn } = tls;
  return connectTls({
    socket,
    ...(isIP(servername) === 0 && servername !== '' ? { servername } : {}),
    ...(isIP(host) === 0 ? { host } : { host: servername === '' ? host : servername }),
    rejectUnauthorized: verify,
    ...(alpn === undefined ? {} : { ALPNProtocols: [...alpn] }),
  });
}

function opened(socket: Socket, event: string): Promise<void> {
  return new Promise((resolve) => socket.once(event, () => resolve()));
}

function toCertificateInfo(socket: TLSSocket): CertificateInfo | undefined {
  const certificate: Partial<DetailedPeerCertificate> = socket.getPeerCertificate(true);
  // Node returns an empty object when there is none.
  if (certificate.fingerprint256 === undefined) return undefined;
  const code: unknown = socket.authorizationError;
  return {
    subject: formatName(certificate.subject),
    issuer: formatName(certificate.issuer),
    names: (certificate.subjectaltname ?? '').split(', ').filter((name) => name !== ''),
    validFrom: Date.parse(certificate.valid_from ?? ''),
    validTo: Date.parse(certificate.valid_to ?? ''),
    fingerprint: certificate.fingerprint256,
    problem: socket.authorized ? null : (findCertificateProblem(getErrorCode(code)) ?? getUntrustedText),
  };
}

/** Node reports the code itself, or an error with it. */
function getErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : error;
}

function formatName(subject: DetailedPeerCertificate['subject'] | undefined): string {
  const name = subject?.CN ?? subject?.O ?? '';
  return Array.isArray(name) ? name.join(', ') : name;
}
