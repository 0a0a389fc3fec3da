import { chmod, chown, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findDescriptorPath, hasUnixSockets, hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import { moveFolder, removeTree } from '../../kit/platform/file-replacement.ts';
import type { ChildOptions, RunningChild } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { exists } from './exists.ts';
import { findFreePort } from './free-port.ts';
import { processUser } from './process-user.ts';
import { findPrograms } from './programs.ts';
import { reportsFatalError, reportsReady } from './server-output.ts';

/**
 * Superuser of the cluster. Only this service uses it; the tables of projects belong to another role, see
 * base-schema.ts.
 */
export const superuser = 'homeport';

/** Address and password of a running server. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** Undefined for a Unix socket, which only this user can reach. */
  readonly password: string | undefined;
}

export interface RunningCluster extends ServerAddress {
  readonly child: RunningChild;
}

/** Server parameters for low memory use; every commit is flushed to disk. */
const serverParameters: Readonly<Record<string, string>> = {
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
/** Operating systems limit the length of Unix socket paths. */
const maxSocketPathBytes = 100;
const socketPort = 5432;

/**
 * Starts the cluster in the folder, which is created and initialized first when it does not exist. With `directPort`
 * programs on this computer can connect to that port as well.
 */
export async function startCluster(
  context: Pick<Context, 'children' | 'log'>,
  folder: string,
  password: string,
  directPort: number,
): Promise<RunningCluster> {
  const programs = await findPrograms();
  await initialise(context, programs, folder, password);
  const bySocket = hasUnixSockets() && Buffer.byteLength(folder) <= maxSocketPathBytes;
  const isDirect = directPort > 0;
  const port = isDirect ? directPort : bySocket ? socketPort : await findFreePort();
  const parameters: Record<string, string> = {
    ...serverParameters,
    port: String(port),
    listen_addresses: bySocket && !isDirect ? '' : '127.0.0.1',
    // The socket is created inside of the cluster folder, which other users cannot enter.
    unix_socket_directories: bySocket ? '.' : '',
    unix_socket_permissions: '0700',
  };
  const child = await context.children.start({
    ...buildCommand('postgres', join(programs, 'postgres'), folder, (dataFolder) => [
      '-D',
      dataFolder,
      ...Object.entries(parameters).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ]),
    stop: { signal: 'SIGINT', graceMs: 15_000 },
  });
  if (!bySocket || isDirect) context.children.registerAddress(child, `postgres://127.0.0.1:${String(port)}`);
  await waitUntilReady(context, child);
  return {
    child,
    port,
    host: bySocket ? folder : '127.0.0.1',
    password: bySocket ? undefined : password,
  };
}

/**
 * Initializes the cluster in a temporary folder and renames it at the end, so that an interrupted start leaves no
 * incomplete cluster.
 */
async function initialise(
  { children, log }: Pick<Context, 'children' | 'log'>,
  programs: string,
  folder: string,
  password: string,
): Promise<void> {
  if (await exists(join(folder, 'PG_VERSION'))) return;
  const temporary = `${folder}.new`;
  await removeTree(temporary);
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  const passwordFolder = await mkdtemp(join(tmpdir(), 'homeport-initdb-'));
  try {
    const passwordFile = join(passwordFolder, 'password');
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (processUser !== undefined) {
      for (const path of [temporary, passwordFolder, passwordFile]) await chown(path, processUser.uid, processUser.gid);
    }
    await chmod(temporary, 0o700);
    const child = await children.start(
      buildCommand('initdb', join(programs, 'initdb'), temporary, (dataFolder) => [
        `--pgdata=${dataFolder}`,
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
    const errorOutput = collectErrorOutput(child);
    child.stdout.resume();
    const { code } = await child.exited;
    if (code !== 0)
      throw new Problem('data.engine_failed', 503, `PostgreSQL could not make its files: ${errorOutput()}`);
    await moveFolder(temporary, folder);
    log.info('postgresql cluster created');
  } finally {
    await removeTree(passwordFolder);
  }
}

/** Descriptor of {@link ChildOptions.inheritedFolder} in the child. */
const inheritedDescriptor = 3;

/**
 * Builds the command. A program that runs as another user receives the folder as an inherited file descriptor, since
 * the path may not be accessible to that user.
 */
function buildCommand(
  name: string,
  file: string,
  folder: string,
  args: (dataFolder: string) => readonly string[],
): ChildOptions {
  const descriptorPath = processUser === undefined ? undefined : findDescriptorPath(inheritedDescriptor);
  const command: ChildOptions = {
    name,
    file,
    args: args(descriptorPath ?? folder),
    folder: hasWindowsPaths() ? folder : '/',
    environment: { LC_ALL: 'C', TZ: 'UTC' },
  };
  if (processUser === undefined) return command;
  return descriptorPath === undefined
    ? { ...command, user: processUser }
    : { ...command, user: processUser, inheritedFolder: folder };
}

async function waitUntilReady({ log }: Pick<Context, 'log'>, child: RunningChild): Promise<void> {
  const errorOutput = collectErrorOutput(child, log);
  child.stdout.resume();
  const isReady = new Promise<boolean>((resolve) => {
    child.stderr.on('data', () => {
      if (reportsReady(errorOutput())) resolve(true);
    });
    void child.exited.then(() => resolve(false));
  });
  if (!(await isReady)) throw new Problem('data.engine_failed', 503, `PostgreSQL does not start: ${errorOutput()}`);
}

/** Collects the end of the error output of a child process. */
function collectErrorOutput(child: RunningChild, log?: Context['log']): () => string {
  let errorOutput = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-4000);
    if (log !== undefined && reportsFatalError(text))
      log.warn('postgresql error reported', { output: text.slice(0, 2000) });
  });
  return () => errorOutput.trim();
}
