import type { Server } from 'node:http';
import type { Server as TcpServer } from 'node:net';

/**
 * Resolves once all servers are closed and the other promises settle: running requests may complete; what remains
 * after the timeout is destroyed.
 */
export async function drain(
  servers: readonly TcpServer[],
  timeoutMs: number,
  destroyAll: () => void,
  others: Iterable<Promise<unknown>>,
): Promise<void> {
  // A connection becomes idle when its last response has ended. There is no event for it, so it is polled.
  const idle = setInterval(() => {
    for (const server of servers) if ('closeIdleConnections' in server) (server as Server).closeIdleConnections();
  }, 25);
  const late = setTimeout(destroyAll, timeoutMs);
  try {
    const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    await Promise.all([...closed, ...others]);
  } finally {
    clearInterval(idle);
    clearTimeout(late);
  }
}
