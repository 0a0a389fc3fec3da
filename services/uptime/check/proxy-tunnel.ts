import { request as httpRequest } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { SocksClient } from 'socks';
import type { MonitorConfig } from '../../contracts/uptime/monitor.ts';
import { formatProxyAddress } from '../../contracts/uptime/proxies.ts';
import { encryptConnection, openConnection, type ConnectOptions } from './connect.ts';
import { CheckFailure, createSettingsFailure, createTargetFailure, getErrorCode } from './failure.ts';
import type { ProxyAddress } from './messages.ts';
import { assertAllowedTarget, guardedLookup } from './target-policy.ts';

type Destination = Omit<ConnectOptions, 'tls'>;

/** Maximum length of a user name and of a password in bytes (RFC 1929). */
const maxSocksCredentialBytes = 255;

/**
 * Returns the proxy of a monitor; undefined for a direct connection, also when the proxy is inactive, as in Uptime Kuma.
 * @throws CheckFailure when the proxy does not exist
 */
export function findProxy(
  { proxyId }: Pick<MonitorConfig, 'proxyId'>,
  proxies: ReadonlyMap<number, ProxyAddress>,
): ProxyAddress | undefined {
  if (proxyId === null) return undefined;
  const proxy = proxies.get(proxyId);
  if (proxy === undefined) throw createSettingsFailure('proxy_missing', {});
  return proxy.active ? proxy : undefined;
}

export function isHttpProxy({ protocol }: ProxyAddress): boolean {
  return protocol === 'http' || protocol === 'https';
}

/** Returns the value of `Proxy-Authorization`; undefined for a proxy without sign-in. */
export function getProxyAuthorization({ username, password }: ProxyAddress): string | undefined {
  return username === undefined
    ? undefined
    : `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`;
}

/**
 * Opens a connection to a target through a proxy, by CONNECT (RFC 9110, 9.3.6) or SOCKS (RFC 1928).
 * @throws CheckFailure when the target policy does not allow the proxy or the target, or when the proxy fails
 */
export async function openTunnel(proxy: ProxyAddress, options: ConnectOptions): Promise<Socket> {
  const { host, tls, signal } = options;
  const name = host.replace(/^\[|\]$/g, '');
  const destination = { ...options, host: await resolveDestination(proxy, { ...options, host: name }) };
  const socket = await openProxyConnection(proxy, options);
  try {
    await (isHttpProxy(proxy)
      ? connectOverHttp(proxy, socket, destination)
      : connectOverSocks(proxy, socket, destination));
  } catch (error) {
    socket.destroy();
    throw signal.aborted && signal.reason instanceof Error ? signal.reason : error;
  }
  return tls === undefined ? socket : encryptConnection(socket, name, tls, signal);
}

/** Opens a connection to the proxy itself; `tls` are the options of the monitor, which apply to an HTTPS proxy too. */
export async function openProxyConnection(
  proxy: ProxyAddress,
  { tls, signal }: Pick<ConnectOptions, 'tls' | 'signal'>,
): Promise<Socket> {
  const options = { ignoreTls: tls?.ignoreTls === true, ca: tls?.ca, onChain: () => undefined };
  try {
    return await openConnection({
      host: proxy.host,
      port: proxy.port,
      use: 'exchange',
      tls: proxy.protocol === 'https' ? options : undefined,
      signal,
    });
  } catch (error) {
    if (signal.aborted || (error instanceof CheckFailure && error.notChecked)) throw error;
    const reason = getErrorCode(error) ?? (error instanceof Error ? error.message : String(error));
    throw createTargetFailure('proxy_unreachable', { address: formatProxyAddress(proxy), reason }, error);
  }
}

/**
 * Checks the target against the policy and returns the host to pass to the proxy: an address for protocols that resolve
 * names here. A name that only the proxy can resolve is passed unchanged.
 */
export async function resolveDestination(
  proxy: ProxyAddress,
  { host, port, family, use = 'exchange', signal }: Destination,
): Promise<string> {
  assertAllowedTarget(host, port, use);
  if (isIP(host) !== 0) return host;
  const isResolvedHere = proxy.protocol === 'socks4' || proxy.protocol === 'socks5';
  // Names of Tor do not exist in DNS, and must not be sent to it (RFC 7686).
  if (!isResolvedHere && /\.onion\.?$/i.test(host)) return host;
  const addressFamily = proxy.protocol === 'socks4' ? 4 : (family ?? 0);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
  signal.addEventListener('abort', abort, { once: true });
  guardedLookup(port, use)(host, { all: false, family: addressFamily }, (error, address) => {
    if (error === null && typeof address === 'string') resolve(address);
    else reject(error);
  });
  try {
    const address = await promise;
    return isResolvedHere ? address : host;
  } catch (error) {
    if (isResolvedHere || signal.aborted || error instanceof CheckFailure) throw error;
    return host;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function connectOverHttp(proxy: ProxyAddress, socket: Socket, { host, port, signal }: Destination): Promise<void> {
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${String(port)}`;
  const authorization = getProxyAuthorization(proxy);
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      createConnection: () => socket,
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
      },
      signal,
    });
    request.once('connect', ({ statusCode = 0 }, _socket, head: Buffer) => {
      if (statusCode < 200 || statusCode >= 300) return reject(createStatusFailure(proxy, statusCode));
      if (head.length > 0) socket.unshift(head);
      resolve();
    });
    request.once('error', (error) => reject(createTunnelFailure(proxy, error)));
    request.end();
  });
}

/** Creates the failure for a status code of the proxy; 407 means that its sign-in failed. */
export function createStatusFailure(proxy: ProxyAddress, status: number): CheckFailure {
  const address = formatProxyAddress(proxy);
  return status === 407
    ? createTargetFailure('proxy_sign_in_refused', { address })
    : createTargetFailure('proxy_refused', { address, reason: `status ${String(status)}` });
}

async function connectOverSocks(
  proxy: ProxyAddress,
  socket: Socket,
  { host, port, signal }: Destination,
): Promise<void> {
  assertSocksCredentials(proxy);
  const abort = (): void => void socket.destroy();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await SocksClient.createConnection({
      command: 'connect',
      existing_socket: socket,
      destination: { host, port },
      proxy: {
        host: proxy.host,
        port: proxy.port,
        type: proxy.protocol === 'socks4' ? 4 : 5,
        ...(proxy.username === undefined ? {} : { userId: proxy.username }),
        ...(proxy.password === undefined ? {} : { password: proxy.password }),
      },
    });
  } catch (error) {
    throw createTunnelFailure(proxy, error);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The client would throw outside of its promise, which ends the process with all checks. @throws CheckFailure */
function assertSocksCredentials(proxy: ProxyAddress): void {
  const credentials = proxy.protocol === 'socks4' ? [] : [proxy.username ?? '', proxy.password ?? ''];
  if (credentials.every((text) => Buffer.byteLength(text) <= maxSocksCredentialBytes)) return;
  const reason = `SOCKS allows at most ${String(maxSocksCredentialBytes)} bytes for a user name and for a password`;
  throw createTargetFailure('proxy_refused', { address: formatProxyAddress(proxy), reason });
}

/** Creates the failure of a proxy that closed the connection or rejected the target. */
function createTunnelFailure(proxy: ProxyAddress, error: unknown): CheckFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return createTargetFailure('proxy_refused', { address: formatProxyAddress(proxy), reason });
}
