import { chmod, chown, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildOptions, RunningChild } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { exists } from './exists.ts';
import { freePort } from './free-port.ts';
import { owner } from './process-user.ts';
import { findPrograms } from './programs.ts';

/** The cluster's superuser, ours alone: people's own tables belong to another role (see frame.ts). */
export const superuser = 'homeport';

/** How a client reaches the running server. */
export interface Reached {
  readonly host: string;
  readonly port: number;
  /** Undefined where only we can reach it. */
  readonly password: string | undefined;
}

/** The running server of a cluster. */
export interface RunningCluster extends Reached {
  readonly child: RunningChild;
}

/** As measured: small, and every commit is on disk. */
const parameters: Readonly<Record<string, string>> = {
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
/** The path of a Unix socket is a short text in the system. */
const longestSocketPath = 100;
const socketPort = 5432;

/**
 * Starts the cluster in this folder, which is created and filled first where it does not exist. With `directPort`
 * programs of this computer reach it on that port too.
 */
export async function startCluster(
  context: Pick<Context, 'children' | 'log'>,
  folder: string,
  password: string,
  directPort: number,
): Promise<RunningCluster> {
  const programs = await findPrograms();
  await initialise(context, programs, folder, password);
  const bySocket = process.platform !== 'win32' && Buffer.byteLength(folder) <= longestSocketPath;
  const isDirect = directPort > 0;
  const port = isDirect ? directPort : bySocket ? socketPort : await freePort();
  const all: Record<string, string> = {
    ...parameters,
    port: String(port),
    listen_addresses: bySocket && !isDirect ? '' : '127.0.0.1',
    // Below the cluster's own folder, which nobody else can enter.
    unix_socket_directories: bySocket ? '.' : '',
    unix_socket_permissions: '0700',
  };
  const child = await context.children.start({
    ...orderOf('postgres', join(programs, 'postgres'), folder, (at) => [
      '-D',
      at,
      ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ]),
    stop: { signal: 'SIGINT', graceMs: 15_000 },
  });
  if (!bySocket || isDirect) context.children.registerAddress(child, `postgres://127.0.0.1:${String(port)}`);
  await ready(context, child);
  return {
    child,
    port,
    host: bySocket ? folder : '127.0.0.1',
    password: bySocket ? undefined : password,
  };
}

/** Made aside and put in place when it is whole, so that a start that was cut off leaves nothing half-made. */
async function initialise(
  { children, log }: Pick<Context, 'children' | 'log'>,
  programs: string,
  folder: string,
  password: string,
): Promise<void> {
  if (await exists(join(folder, 'PG_VERSION'))) return;
  const fresh = `${folder}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { recursive: true, mode: 0o700 });
  const notes = await mkdtemp(join(tmpdir(), 'homeport-initdb-'));
  try {
    const passwordFile = join(notes, 'password');
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (owner !== undefined) {
      for (const path of [fresh, notes, passwordFile]) await chown(path, owner.uid, owner.gid);
    }
    await chmod(fresh, 0o700);
    const child = await children.start(
      orderOf('initdb', join(programs, 'initdb'), fresh, (at) => [
        `--pgdata=${at}`,
        `--username=${superuser}`,
        `--pwfile=${passwordFile}`,
        '--auth-local=trust',
        '--auth-host=scram-sha-256',
        '--encoding=UTF8',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--locale=C',
      ]),
    );
    const said = tail(child);
    child.stdout.resume();
    const { code } = await child.exited;
    if (code !== 0) throw new Problem('data.engine_failed', 503, `PostgreSQL could not make its files: ${said()}`);
    await rename(fresh, folder);
    log.info('a new PostgreSQL cluster was made');
  } finally {
    await rm(notes, { recursive: true, force: true });
  }
}

/** Where the program runs as another user it gets the folder handed over, since the way there may be closed to that user. */
function orderOf(name: string, file: string, folder: string, args: (at: string) => readonly string[]): ChildOptions {
  const isHanded = owner !== undefined && process.platform === 'linux';
  return {
    name,
    file,
    args: args(isHanded ? '/proc/self/fd/3' : folder),
    folder: process.platform === 'win32' ? folder : '/',
    environment: { LC_ALL: 'C', TZ: 'UTC' },
    ...(owner === undefined ? {} : { user: owner }),
    ...(isHanded ? { inheritedFolder: folder } : {}),
  };
}

async function ready({ log }: Pick<Context, 'log'>, child: RunningChild): Promise<void> {
  const said = tail(child, log);
  child.stdout.resume();
  const up = new Promise<boolean>((resolve) => {
    child.stderr.on('data', () => {
      if (said().includes('database system is ready to accept connections')) resolve(true);
    });
    void child.exited.then(() => resolve(false));
  });
  if (!(await up)) throw new Problem('data.engine_failed', 503, `PostgreSQL does not start: ${said()}`);
}

/** The end of what a program said on its error stream. */
function tail(child: RunningChild, log?: Context['log']): () => string {
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
    if (log !== undefined && /\b(FATAL|PANIC)\b/.test(text))
      log.warn('PostgreSQL complains', { said: text.slice(0, 2000) });
  });
  return () => said.trim();
}
