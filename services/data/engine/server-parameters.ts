import { getMaxSocketPathBytes, syncLeavesDiskCache } from '../../kit/platform/file-systems.ts';

/** Server parameters for low memory use; every commit is flushed to disk. */
const commonParameters: Readonly<Record<string, string>> = {
  shared_buffers: '16MB',
  max_connections: '40',
  max_worker_processes: '2',
  max_parallel_workers: '0',
  autovacuum_max_workers: '1',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  max_wal_size: '256MB',
  jit: 'off',
  io_method: 'sync',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Returns whether clients can reach the Unix socket of a server with this port in a folder. */
export function canUseSocket(folder: string, port: number, platform: NodeJS.Platform): boolean {
  return Buffer.byteLength(`${folder}/.s.PGSQL.${String(port)}`) <= getMaxSocketPathBytes(platform);
}

export interface ServerAccess {
  readonly port: number;
  /** The server listens on a TCP port of this computer. */
  readonly byTcp: boolean;
  /** The server listens on a Unix socket in its data folder. */
  readonly bySocket: boolean;
}

/** Returns the `-c` options of the server. */
export function buildServerOptions(
  { port, byTcp, bySocket }: ServerAccess,
  platform: NodeJS.Platform,
): readonly string[] {
  const parameters = {
    ...commonParameters,
    ...(syncLeavesDiskCache(platform) && { wal_sync_method: 'fsync_writethrough' }),
    port: String(port),
    listen_addresses: byTcp ? '127.0.0.1' : '',
    // The socket is created inside of the cluster folder, which other users cannot enter.
    unix_socket_directories: bySocket ? '.' : '',
    unix_socket_permissions: '0700',
  };
  return Object.entries(parameters).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
