import { createServer } from 'node:net';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { isWildcardListener, readTcpTable } from './tcp-table.ts';

/** Returns whether another listener has a port on all addresses. */
export type WildcardCheck = (port: number) => Promise<boolean>;

/**
 * Returns a check for listeners on all addresses. On Windows and macOS, unlike on Linux, they do not prevent a listener
 * on 127.0.0.1, which then silently receives the connections of the other program.
 *
 * Windows is asked for its table of sockets instead of trying the address, since its firewall shows a dialog for a
 * program that listens on all addresses.
 */
export async function createWildcardCheck(platform: NodeJS.Platform = currentPlatform): Promise<WildcardCheck> {
  if (platform === 'darwin') return tryWildcardAddresses;
  if (platform !== 'win32') return () => Promise.resolve(false);
  // Without the table a port is only found to be taken by its own address, as before.
  const sockets = await readTcpTable().catch(() => []);
  const ports = new Set(sockets.filter(isWildcardListener).map(({ localPort }) => localPort));
  return (port) => Promise.resolve(ports.has(port));
}

async function tryWildcardAddresses(port: number): Promise<boolean> {
  for (const host of ['0.0.0.0', '::']) {
    if (await isAddressInUse(host, port)) return true;
  }
  return false;
}

/** Other failures, such as a missing address family, say nothing about other programs. */
async function isAddressInUse(host: string, port: number): Promise<boolean> {
  const server = createServer();
  const code = await new Promise<unknown>((resolve) => {
    server.once('error', (error) => resolve('code' in error ? error.code : ''));
    server.listen({ host, port, ipv6Only: host.includes(':'), exclusive: true }, () => resolve(undefined));
  });
  if (code === undefined) await new Promise((resolve) => server.close(resolve));
  return code === 'EADDRINUSE';
}
