import type { Server } from 'node:http';
import type { Server as TcpServer } from 'node:net';

/**
 * Resolves once all servers are closed, and the other things over: running requests end on their own, what is left after the
 * time-out is destroyed.
 */
export async function drain(
  servers: readonly TcpServer[],
  timeoutMs: number,
  destroyAll: () => void,
  others: Iterable<Promise<unknown>>,
): Promise<void> {
  // A connection falls idle when its last answer has ended; nothing tells, so one looks.
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
