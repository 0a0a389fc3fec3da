import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { constants } from 'node:crypto';
import { connect as connectTls, checkServerIdentity, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import type { CertificateChain } from '../../contracts/uptime/views.ts';
import { CheckFailure, createTargetFailure } from './failure.ts';
import { assertAllowedTarget, guardedLookup, type TargetUse } from './target-policy.ts';

export interface ConnectOptions {
  readonly host: string;
  readonly port: number;
  /** Address family, 4 or 6; undefined for both. */
  readonly family?: number | undefined;
  readonly tls?: TlsOptions | undefined;
  /** Defaults to `exchange`. */
  readonly use?: TargetUse | undefined;
  readonly signal: AbortSignal;
}

export interface TlsOptions {
  /** Accepts untrusted certificates. */
  readonly ignoreTls: boolean;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Receives every certificate chain, including untrusted ones. */
  readonly onChain: (chain: () => CertificateChain, fingerprint: string) => void;
}

/**
 * Opens a new connection for one check, so that the listener, the handshake and the certificate are checked as well.
 */
export async function openConnection({
  host,
  port,
  family,
  tls,
  use = 'exchange',
  signal,
}: ConnectOptions): Promise<Socket> {
  const name = host.replace(/^\[|\]$/g, '');
  assertAllowedTarget(name, port, use);
  const socket = connectTcp({
    host: name,
    port,
    autoSelectFamily: true,
    lookup: guardedLookup(port, use),
    ...(family === undefined ? {} : { family }),
  });
  await waitForEvent(socket, 'connect', signal);
  return tls === undefined ? socket : encryptConnection(socket, name, tls, signal);
}

/**
 * Encrypts a connection and verifies the certificate of the server.
 * @throws CheckFailure when the certificate is not trusted
 */
export async function encryptConnection(
  socket: Socket,
  name: string,
  tls: TlsOptions,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const secured = connectTls({
    socket,
    ...(isIP(name) === 0 ? { servername: name } : {}),
    rejectUnauthorized: false,
    // Old appliances do not support secure renegotiation. A check sends no data that renegotiation would expose.
    secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
    // Verified below, together with the chain.
    checkServerIdentity: () => undefined,
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls.key === undefined ? {} : { key: tls.key }),
  });
  await waitForEvent(secured, 'secureConnect', signal);
  const leafCertificate: Partial<DetailedPeerCertificate> = secured.getPeerCertificate(false);
  const failure = findCertificateFailure(secured, name, leafCertificate);
  if (leafCertificate.fingerprint256 !== undefined) {
    tls.onChain(() => toChain(secured, failure), `${leafCertificate.fingerprint256}${failure?.message ?? ''}`);
  }
  if (failure !== undefined && !tls.ignoreTls) {
    secured.destroy();
    throw failure;
  }
  return secured;
}

/** Resolves when the event occurs. Rejects on an error, on close and on abort, and then the socket is destroyed. */
function waitForEvent(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (call: () => void): void => {
      signal.removeEventListener('abort', abort);
      socket.off('error', fail);
      socket.off('close', close);
      // Later errors do not affect the result.
      socket.on('error', () => socket.destroy());
      call();
    };
    const fail = (error: Error): void => settle(() => reject(error));
    const close = (): void => settle(() => reject(new CheckFailure('socket hang up')));
    const abort = (): void => {
      settle(() => reject(signal.reason instanceof Error ? signal.reason : new Error('given up')));
      socket.destroy();
    };
    socket.once('error', fail);
    socket.once('close', close);
    socket.once(event, () => settle(resolve));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

function findCertificateFailure(
  socket: TLSSocket,
  host: string,
  leafCertificate: Partial<DetailedPeerCertificate>,
): CheckFailure | undefined {
  if (!socket.authorized) {
    const error: unknown = socket.authorizationError;
    const code = error instanceof Error && 'code' in error ? error.code : error;
    return createTargetFailure('certificate_untrusted', { reason: typeof code === 'string' ? code : 'CERT_UNTRUSTED' });
  }
  if (leafCertificate.subject === undefined) return undefined;
  const mismatch = checkServerIdentity(host, leafCertificate as DetailedPeerCertificate);
  return mismatch === undefined ? undefined : new CheckFailure(mismatch.message);
}

function toChain(socket: TLSSocket, failure: CheckFailure | undefined): CertificateChain {
  const chain: CertificateChain['chain'] = [];
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (certificate?.fingerprint256 !== undefined && chain.length < 10) {
    const issuer: DetailedPeerCertificate | undefined = certificate.issuerCertificate;
    const isSelfSigned: boolean = issuer?.fingerprint256 === certificate.fingerprint256;
    chain.push({
      subject: formatName(certificate.subject),
      issuer: formatName(certificate.issuer),
      validFrom: Date.parse(certificate.valid_from),
      validTo: Date.parse(certificate.valid_to),
      fingerprint256: certificate.fingerprint256,
      kind:
        chain.length === 0 ? (isSelfSigned ? 'self-signed' : 'server') : isSelfSigned ? 'root CA' : 'intermediate CA',
      names: (certificate.subjectaltname ?? '')
        .split(', ')
        .filter((name) => name !== '')
        .slice(0, 100),
    });
    certificate = isSelfSigned ? undefined : issuer;
  }
  return { trusted: failure === undefined, error: failure?.message ?? null, chain };
}

function formatName(subject: Partial<DetailedPeerCertificate['subject']> | undefined): string {
  const name = subject?.CN ?? subject?.O ?? '';
  return Array.isArray(name) ? name.join(', ') : name;
}

export function toFamily(option: string | null | undefined): number | undefined {
  return option === 'ipv4' ? 4 : option === 'ipv6' ? 6 : undefined;
}
