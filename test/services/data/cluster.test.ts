import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openChildren, type ServiceChildren } from '../../../main/host/children/children.ts';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { startCluster, superuser, type RunningCluster } from '../../../services/data/engine/cluster.ts';
import { buildServerOptions, canUseSocket } from '../../../services/data/engine/server-parameters.ts';
import { silentLog } from '../../support/database-location.ts';

let parent: string;
let children: ServiceChildren;
const started: string[] = [];

beforeEach(async () => {
  parent = mkdtempSync(join(tmpdir(), 'cluster-'));
  mkdirSync(join(parent, 'children'));
  started.length = 0;
  children = await openChildren(join(parent, 'children'), { clock: systemClock, log: silentLog });
});
afterEach(async () => {
  await children[Symbol.asyncDispose]();
  rmSync(parent, { recursive: true, force: true });
});

/** Returns a folder below the test's folder whose path has this many bytes. */
function getFolder(bytes: number): string {
  return join(parent, 'x'.repeat(bytes - Buffer.byteLength(parent) - 1));
}

async function start(
  folder: string,
  options: { readonly platform?: NodeJS.Platform; readonly directPort?: number } = {},
): Promise<RunningCluster> {
  const recorded = {
    ...children,
    start: (order: Parameters<ServiceChildren['start']>[0]) => {
      started.push(order.name === 'pg_ctl' ? `pg_ctl ${order.args[0] ?? ''}` : order.name);
      return children.start(order);
    },
  };
  const context = { children: recorded, clock: systemClock, log: silentLog };
  return await startCluster(context, { folder, password: 'secret', directPort: 0, ...options });
}

/** Runs a statement as the superuser and returns the rows. */
async function query({ host, port, password }: RunningCluster, text: string): Promise<unknown[]> {
  const client = new pg.Client({
    host,
    port,
    user: superuser,
    database: 'postgres',
    ...(password !== undefined && { password }),
  });
  await client.connect();
  try {
    return (await client.query(text)).rows as unknown[];
  } finally {
    await client.end();
  }
}

describe('path of the Unix socket', () => {
  it.each([
    ['linux', 93, 94],
    ['darwin', 89, 90],
  ] as const)('includes the name of the socket in the limit of %s', (platform, longest, tooLong) => {
    expect(canUseSocket('x'.repeat(longest), 5432, platform)).toBe(true);
    expect(canUseSocket('x'.repeat(tooLong), 5432, platform)).toBe(false);
    expect(canUseSocket('x'.repeat(longest), 54321, platform)).toBe(false);
    expect(canUseSocket('ü'.repeat(longest / 2 + 1), 5432, platform)).toBe(false);
    expect(canUseSocket('x', 5432, 'win32')).toBe(false);
  });

  it.each([89, 90, 94, 100])('lets clients reach a server in a folder of %d bytes', async (bytes) => {
    const cluster = await start(getFolder(bytes));
    expect(await query(cluster, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(cluster.host.startsWith('/')).toBe(bytes < 94);
    await cluster.stop();
  });
});

describe('parameters of the server', () => {
  it('makes the server write through the cache of the disk on macOS', () => {
    const access = { port: 5432, byTcp: false, bySocket: true };
    expect(buildServerOptions(access, 'darwin')).toContain('wal_sync_method=fsync_writethrough');
    expect(buildServerOptions(access, 'linux').join(' ')).not.toContain('wal_sync_method');
    expect(buildServerOptions(access, 'win32').join(' ')).not.toContain('wal_sync_method');
  });
});

describe('server on Windows', () => {
  const platform = 'win32';
  const unlogged = 'create unlogged table counts as select 7 as count';

  it('is started and stopped by pg_ctl, so that it recovers nothing and unlogged tables keep their rows', async () => {
    const folder = join(parent, 'cluster');
    const first = await start(folder, { platform });
    expect([first.host, first.password]).toEqual(['127.0.0.1', 'secret']);
    await query(first, unlogged);
    await first.stop();
    await first.stop();
    const second = await start(folder, { platform });
    expect(await query(second, 'select count from counts')).toEqual([{ count: 7 }]);
    expect(readFileSync(join(folder, 'homeport-server.log'), 'utf8')).not.toContain('not properly shut down');
    await second.stop();
    expect(started).toEqual(['initdb', 'pg_ctl start', 'pg_ctl stop', 'pg_ctl start', 'pg_ctl stop']);
  });

  it('is stopped before the next start when a crashed host left it running', async () => {
    const folder = join(parent, 'cluster');
    const first = await start(folder, { platform });
    await query(first, unlogged);
    const second = await start(folder, { platform });
    expect(await query(second, 'select count from counts')).toEqual([{ count: 7 }]);
    await expect(query(first, 'select 1')).rejects.toThrow();
    await second.stop();
  });

  it('is not taken for ready because of the file that a killed server left behind', async () => {
    const folder = join(parent, 'cluster');
    const first = await start(folder, { platform });
    const pidFile = join(folder, 'postmaster.pid');
    const lines = readFileSync(pidFile, 'utf8').split('\n');
    await first.stop();
    // The system assigns no process ids as high as this one.
    writeFileSync(pidFile, ['99999999', ...lines.slice(1)].join('\n'));
    const second = await start(folder, { platform });
    expect(await query(second, 'select 1 as one')).toEqual([{ one: 1 }]);
    await second.stop();
  });

  it('reports the output of a server that does not start', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await expect(start(join(parent, 'cluster'), { platform, directPort: port })).rejects.toThrow(/could not bind/);
    other.close();
  });
});
