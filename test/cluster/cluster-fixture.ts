import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminAuthorization } from '../support/host.ts';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';
import { startPostgres } from '../support/postgres.ts';

/** Maximum time in ms in which another host takes over the work of one that ended or hangs. */
export const maxTakeoverMs = 10_000;

/** How a host differs from the others of its cluster. */
export interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Entry file; default: that of `npm start`. */
  readonly program?: string;
}

/** Hosts that share a PostgreSQL database. */
export interface Cluster extends AsyncDisposable {
  /** Environment of each host. */
  readonly environment: Readonly<Record<string, string>>;
  /** Starts a host with its own data folder. */
  start(options?: StartOptions): Promise<HostProcess>;
}

/** Opens a cluster without hosts. It starts a PostgreSQL server unless the environment contains the address of one. */
export async function openCluster(environment: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  await using opening = new AsyncDisposableStack();
  // Each host needs up to forty connections.
  const url = environment['HOMEPORT_DATABASE_URL'] ?? opening.use(await startPostgres({ max_connections: '200' })).url;
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  opening.defer(() => rmSync(folder, { recursive: true, force: true }));
  const shared = {
    HOMEPORT_DATABASE_URL: url,
    HOMEPORT_VAULT_KEY: randomBytes(32).toString('base64'),
    ...environment,
  };
  const resources = opening.move();
  let hosts = 0;
  return {
    environment: shared,
    async start({ environment: more = {}, ...options } = {}) {
      hosts += 1;
      const dataDir = join(folder, `host-${String(hosts)}`);
      return resources.use(await startHostProcess(dataDir, { environment: { ...shared, ...more }, ...options }));
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Calls a service of a host as the administrator, and returns the JSON of a successful response. */
export async function call<T>(url: string, method = 'GET', body?: unknown): Promise<T> {
  const reply = await fetch(url, {
    method,
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${url}: ${String(reply.status)} ${text}`);
  return JSON.parse(text) as T;
}

/** Returns the texts of all messages of a topic, as a client of a host reads them. */
export async function readMessages(host: HostProcess, topic: string): Promise<readonly string[]> {
  const reply = await fetch(`${host.url('push')}/${topic}/json?poll=1`, {
    headers: { authorization: adminAuthorization },
  });
  const lines = (await reply.text()).split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { message: string }).message);
}

export async function publish(
  host: HostProcess,
  topic: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const reply = await fetch(`${host.url('push')}/${topic}`, {
    method: 'POST',
    headers: { authorization: adminAuthorization, ...headers },
    body: message,
  });
  if (!reply.ok) throw new Error(await reply.text());
}
