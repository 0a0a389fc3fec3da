import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { constants } from 'node:crypto';
import { connect as connectTls, checkServerIdentity, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { findCertificateProblem } from '../../contracts/certificates.ts';
import type { CertificateChain } from '../../contracts/uptime/views.ts';
import { CheckFailure } from './failure.ts';
import { assertAllowedTarget, guardedLookup, type TargetUse } from './target-policy.ts';

export interface ConnectTo {
  readonly host: string;
  readonly port: number;
  /** Address family, 4 or 6; undefined for both. */
  readonly family?: number | undefined;
  readonly tls?: TlsWishes | undefined;
  /** Defaults to `exchange`. */
  readonly use?: TargetUse | undefined;
  readonly signal: AbortSignal;
}

export interface TlsWishes {
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
export async function connectTo({ host, port, family, tls, use = 'exchange', signal }: ConnectTo): Promise<Socket> {
  const name = host.replace(/^\[|\]$/g, '');
  assertAllowedTarget(name, port, use);
  const socket = connectTcp({
    host: name,
    port,
    autoSelectFamily: true,
    lookup: guardedLookup(port, use),
    ...(family === undefined ? {} : { family }),
  });
  await ready(socket, 'connect', signal);
  return tls === undefined ? socket : secure(socket, name, tls, signal);
}

/**
 * Encrypts a connection and verifies the certificate of the server.
 * @throws CheckFailure when the certificate is not trusted
 */
export async function secure(socket: Socket, name: string, tls: TlsWishes, signal: AbortSignal): Promise<TLSSocket> {
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
  await ready(secured, 'secureConnect', signal);
  const leaf: Partial<DetailedPeerCertificate> = secured.getPeerCertificate(false);
  const trouble = troubleOf(secured, name, leaf);
  if (leaf.fingerprint256 !== undefined) {
    tls.onChain(() => chainOf(secured, trouble), `${leaf.fingerprint256}${trouble ?? ''}`);
  }
  if (trouble !== undefined && !tls.ignoreTls) {
    secured.destroy();
    throw new CheckFailure(trouble);
  }
  return secured;
}

/** Resolves when the event occurs. Rejects on an error, on close and on abort, and then the socket is destroyed. */
function ready(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (call: () => void): void => {
      signal.removeEventListener('abort', abort);
      socket.off('error', fail);
      socket.off('close', close);
      // Later errors do not affect the result.
      socket.on('error', () => socket.destroy());
      call();
    };
    const fail = (error: Error): void => end(() => reject(error));
    const close = (): void => end(() => reject(new CheckFailure('socket hang up')));
    const abort = (): void => {
      end(() => reject(signal.reason instanceof Error ? signal.reason : new Error('given up')));
      socket.destroy();
    };
    socket.once('error', fail);
    socket.once('close', close);
    socket.once(event, () => end(resolve));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

function troubleOf(socket: TLSSocket, host: string, leaf: Partial<DetailedPeerCertificate>): string | undefined {
  if (!socket.authorized) {
    const error: unknown = socket.authorizationError;
    const code = error instanceof Error && 'code' in error ? error.code : error;
    const words = findCertificateProblem(code);
    const plain = typeof code === 'string' ? code : 'it is not trusted';
    return words === undefined
      ? `certificate is not trusted: ${plain}`
      : `certificate is not trusted: ${words} (${plain})`;
  }
  if (leaf.subject === undefined) return undefined;
  return checkServerIdentity(host, leaf as DetailedPeerCertificate)?.message;
}

function chainOf(socket: TLSSocket, trouble: string | undefined): CertificateChain {
  const chain: CertificateChain['chain'] = [];
  let at: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (at?.fingerprint256 !== undefined && chain.length < 10) {
    const issuer: DetailedPeerCertificate | undefined = at.issuerCertificate;
    const own: boolean = issuer?.fingerprint256 === at.fingerprint256;
    chain.push({
      subject: nameOf(at.subject),
      issuer: nameOf(at.issuer),
      validFrom: Date.parse(at.valid_from),
      validTo: Date.parse(at.valid_to),
      fingerprint256: at.fingerprint256,
      kind: chain.length === 0 ? (own ? 'self-signed' : 'server') : own ? 'root CA' : 'intermediate CA',
      names: (at.subjectaltname ?? '')
        .split(', ')
        .filter((name) => name !== '')
        .slice(0, 100),
    });
    at = own ? undefined : issuer;
  }
  return { trusted: trouble === undefined, trouble: trouble ?? null, chain };
}

function nameOf(subject: Partial<DetailedPeerCertificate['subject']> | undefined): string {
  const name = subject?.CN ?? subject?.O ?? '';
  return Array.isArray(name) ? name.join(', ') : name;
}

export function familyOf(wish: string | null | undefined): number | undefined {
  return wish === 'ipv4' ? 4 : wish === 'ipv6' ? 6 : undefined;
}
