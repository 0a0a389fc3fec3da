import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as requestPlainly } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';

const patience = 5000;

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
export async function troubleByTls({ address, port, host, authority }: Target): Promise<string | undefined> {
  return troubleOf(
    request({
      ...{ host: address, port, servername: host, localAddress: address, agent: false, path: '/.homeport/style.css' },
      ...{ headers: { Host: `${host}:${String(port)}` }, signal: AbortSignal.timeout(patience) },
      ...(authority === undefined ? {} : { ca: authority }),
    }).end(),
  );
}

/** Returns the reason why the trust page fails; undefined on success. */
export async function troubleOfPage({ address, port }: Pick<Target, 'address' | 'port'>): Promise<string | undefined> {
  const path = '/.homeport/style.css';
  const signal = AbortSignal.timeout(patience);
  return troubleOf(requestPlainly({ host: address, port, localAddress: address, agent: false, path, signal }).end());
}

/** Returns the reason why a TCP port does not accept connections; undefined on success. */
export async function troubleOfPort(url: string): Promise<string | undefined> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: Number(port), localAddress: host });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(patience) });
    return undefined;
  } catch (error) {
    return wordsFor(error);
  } finally {
    socket.destroy();
  }
}

async function troubleOf(asked: ReturnType<typeof request>): Promise<string | undefined> {
  try {
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    return answer.statusCode === 200 ? undefined : `it answered ${String(answer.statusCode ?? 0)}`;
  } catch (error) {
    return wordsFor(error);
  }
}

function wordsFor(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}

const reasons: Readonly<Record<string, string>> = {
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
