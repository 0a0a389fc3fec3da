import * as m from '#messages/gateway-texts';
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
    return response.statusCode === 200 ? undefined : m.reasonStatus({ status: String(response.statusCode ?? 0) });
  } catch (error) {
    return formatFailure(error);
  }
}

function formatFailure(error: unknown, platform: NodeJS.Platform = currentPlatform): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const hint = code === 'EHOSTUNREACH' ? getLocalNetworkHint(message, platform) : '';
  return hint === '' ? (reasons[code]?.() ?? message) : hint;
}

const reasons: Readonly<Record<string, () => string>> = {
  ECONNREFUSED: m.reasonNotListening,
  ABORT_ERR: m.reasonTimeout,
  EADDRNOTAVAIL: m.reasonAddressLost,
  CERT_HAS_EXPIRED: m.reasonCertificateExpired,
  ERR_TLS_CERT_ALTNAME_INVALID: m.reasonCertificateOtherNames,
  DEPTH_ZERO_SELF_SIGNED_CERT: m.reasonCertificateSelfSigned,
  SELF_SIGNED_CERT_IN_CHAIN: m.reasonIssuerUntrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: m.reasonChainIncomplete,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: m.reasonChainIncomplete,
};
