import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { getLocalNetworkHint } from '../../contracts/macos-privacy.ts';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';

const timeoutMs = 5000;

/** Address to connect to. */
export interface Target {
  readonly address: string;
  readonly port: number;
  /** Requested host name. */
  readonly host: string;
  /** Trusted authority; undefined for the system store. */
  readonly authority: string | undefined;
}

/** Returns the reason why HTTPS fails; undefined on success. */
export async function findTlsFailure({ address, port, host, authority }: Target): Promise<string | undefined> {
  return findRequestFailure(
    request({
      host: address,
      port,
      servername: host,
      localAddress: address,
      agent: false,
      path: '/.homeport/style.css',
      headers: { Host: `${host}:${String(port)}` },
      signal: AbortSignal.timeout(timeoutMs),
      ...(authority === undefined ? {} : { ca: authority }),
    }).end(),
  );
}

/** Returns the reason why the trust page fails; undefined on success. */
export async function findTrustPageFailure({
  address,
  port,
}: Pick<Target, 'address' | 'port'>): Promise<string | undefined> {
  const path = '/.homeport/style.css';
  const signal = AbortSignal.timeout(timeoutMs);
  return findRequestFailure(
    httpRequest({ host: address, port, localAddress: address, agent: false, path, signal }).end(),
  );
}

/** Returns the reason why a TCP port does not accept connections; undefined on success. */
export async function findPortFailure(url: string): Promise<string | undefined> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: Number(port), localAddress: host });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(timeoutMs) });
    return undefined;
  } catch (error) {
    return formatFailure(error);
  } finally {
    socket.destroy();
  }
}

async function findRequestFailure(pendingRequest: ReturnType<typeof request>): Promise<string | undefined> {
  try {
    const [response] = (await once(pendingRequest, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode === 200 ? undefined : `it answered ${String(response.statusCode ?? 0)}`;
  } catch (error) {
    return formatFailure(error);
  }
}

function formatFailure(error: unknown, platform: NodeJS.Platform = currentPlatform): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const hint = code === 'EHOSTUNREACH' ? getLocalNetworkHint(message, platform).replace(/\.$/, '') : '';
  return hint === '' ? (failureLabels[code] ?? message) : hint;
}

const failureLabels: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ABORT_ERR: 'no answer within five seconds: something between, such as a firewall, swallows it',
  EADDRNOTAVAIL: 'this machine has not got the address any more',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for other names',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate was signed by nobody that devices trust',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate was signed by somebody whom devices do not trust by themselves',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the certificate comes without its chain, or from somebody whom devices do not trust',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'the certificate comes without its chain, or from somebody whom devices do not trust',
};
