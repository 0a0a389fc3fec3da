import * as m from '#messages/data-problems';
import { chmod, chown, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { moveFolder, removeTree } from '../../kit/platform/file-replacement.ts';
import { hasSignals } from '../../kit/platform/process-tree.ts';
import type { ChildExit, RunningChild } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { exists } from './exists.ts';
import { findFreePort } from './free-port.ts';
import { processUser } from './process-user.ts';
import { findPrograms } from './programs.ts';
import { buildCommand } from './server-command.ts';
import { startByControl, stopByControl } from './server-control.ts';
import { reportsFatalError, reportsReady } from './server-output.ts';
import { buildServerOptions, canUseSocket } from './server-parameters.ts';

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
  /** Resolves when the server has ended; undefined on Windows, where only its connections show that. */
  readonly exited: Promise<ChildExit> | undefined;
  /** Stops the server so that it needs no recovery. Idempotent. */
  stop(): Promise<void>;
}

/** Parts of the host that run the server. */
export type ClusterContext = Pick<Context, 'children' | 'clock' | 'log'>;

export interface ClusterOptions {
  readonly folder: string;
  readonly password: string;
  /** Port for programs on this computer; 0 for none. */
  readonly directPort: number;
  readonly platform?: NodeJS.Platform;
}

const socketPort = 5432;

/**
 * Starts the cluster in the folder, which is created and initialized first when it does not exist. With `directPort`
 * programs on this computer can connect to that port as well.
 */
export async function startCluster(
  context: ClusterContext,
  { folder, password, directPort, platform = currentPlatform }: ClusterOptions,
): Promise<RunningCluster> {
  const programs = await findPrograms();
  await initialise(context, programs, folder, password);
  const isDirect = directPort > 0;
  const bySocket = canUseSocket(folder, isDirect ? directPort : socketPort, platform);
  const port = isDirect ? directPort : bySocket ? socketPort : await findFreePort();
  const byTcp = isDirect || !bySocket;
  const options = buildServerOptions({ port, byTcp, bySocket }, platform);
  const { exited, stop, released } = await (hasSignals(platform) ? startDirectly : startControlled)(
    context,
    programs,
    folder,
    options,
  );
  if (byTcp) context.children.registerAddress({ exited: released }, `postgres://127.0.0.1:${String(port)}`);
  return {
    exited,
    stop,
    port,
    host: bySocket ? folder : '127.0.0.1',
    password: bySocket ? undefined : password,
  };
}

interface RunningProcess extends Pick<RunningCluster, 'exited' | 'stop'> {
  /** Resolves when the server was stopped or has ended. */
  readonly released: Promise<ChildExit>;
}

/** Starts the server as a child of this process. */
async function startDirectly(
  context: ClusterContext,
  programs: string,
  folder: string,
  options: readonly string[],
): Promise<RunningProcess> {
  const child = await context.children.start({
    ...buildCommand('postgres', join(programs, 'postgres'), folder, (dataFolder) => ['-D', dataFolder, ...options]),
    stop: { signal: 'SIGINT', graceMs: 15_000 },
  });
  await waitUntilReady(context, child);
  return { exited: child.exited, released: child.exited, stop: async () => void (await child.stop()) };
}

/** Starts the server with `pg_ctl`. Its end is noticed by the connections to it. */
async function startControlled(
  context: ClusterContext,
  programs: string,
  folder: string,
  options: readonly string[],
): Promise<RunningProcess> {
  const control = { context, programs, folder };
  await startByControl(control, options);
  const exit = Promise.withResolvers<ChildExit>();
  return {
    exited: undefined,
    released: exit.promise,
    async stop() {
      await stopByControl(control);
      exit.resolve({ code: 0, signal: null });
    },
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
    if (code !== 0) throw new Problem('data.engine_failed', 503, () => m.clusterNotCreated({ output: errorOutput() }));
    await moveFolder(temporary, folder);
    log.info('postgresql cluster created');
  } finally {
    await removeTree(passwordFolder);
  }
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
  if (!(await isReady))
    throw new Problem('data.engine_failed', 503, () => m.serverNotStarted({ output: errorOutput() }));
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
