import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { api } from '../support/api.ts';
import { freePort } from '../support/free-port.ts';
import { admin, adminAuthorization } from '../support/host.ts';
import { startHostProcess } from '../support/host-process.ts';

/** Push server in a separate process, with an administrator. */
export interface PushServer extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  /** Authorization header with a token, and with a password. */
  readonly token: string;
  readonly password: string;
  /** Collects garbage if the server supports it. */
  collect(): Promise<void>;
}

/** Starts the complete host with default settings, like `npm start`. */
export async function startHomeport(folder: string): Promise<PushServer> {
  const collector = new URL('collect-on-signal.mjs', import.meta.url).href;
  const host = await startHostProcess(folder, {
    environment: { NODE_OPTIONS: `--expose-gc --import=${collector}` },
  });
  const { text } = await api<{ text: string }>(host.url('control'), `/api/accounts/${admin.name}/tokens`, {
    method: 'POST',
    body: JSON.stringify({ label: 'bench' }),
  });
  return {
    pid: host.child.pid ?? 0,
    port: host.port('push'),
    token: `Bearer ${text}`,
    password: adminAuthorization,
    async collect() {
      host.child.kill('SIGUSR2');
      await sleep(1500);
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

/**
 * Starts a real ntfy with the performance settings of its documentation: WAL, no sync per commit, no limits for this
 * computer.
 */
export async function startNtfy(binary: string, folder: string): Promise<PushServer> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const config = join(folder, 'server.yml');
  const queries = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 15000;';
  const settings = {
    'listen-http': `127.0.0.1:${port}`,
    'cache-file': join(folder, 'cache.db'),
    'cache-startup-queries': `${queries} PRAGMA temp_store = memory;`,
    'auth-file': join(folder, 'auth.db'),
    'auth-startup-queries': queries,
    'auth-default-access': 'deny-all',
    'visitor-request-limit-exempt-hosts': '127.0.0.1/8',
    'visitor-request-limit-burst': 100_000_000,
    'visitor-request-limit-replenish': '1ms',
    'visitor-message-daily-limit': 100_000_000,
    'visitor-subscription-limit': 1_000_000,
    'log-level': 'error',
  };
  writeFileSync(config, JSON.stringify(settings));
  const set = (...words: readonly string[]): string => {
    const environment = { ...process.env, NTFY_PASSWORD: admin.password };
    const { status, stdout, stderr } = spawnSync(binary, words, { env: environment, encoding: 'utf8' });
    if (status !== 0) throw new Error(`ntfy ${words.join(' ')}: ${stderr}`);
    return stdout + stderr;
  };
  const child = spawn(binary, ['serve', '--config', config], { stdio: 'ignore' });
  await untilHealthy(port);
  set('user', '--config', config, 'add', '--role=admin', admin.name);
  const token = /tk_\w+/.exec(set('token', '--config', config, 'add', admin.name))?.[0] ?? '';
  return {
    pid: child.pid ?? 0,
    port,
    token: `Bearer ${token}`,
    password: adminAuthorization,
    collect: () => sleep(1500),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function untilHealthy(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/health`).catch(() => undefined);
    if (response?.ok === true) return;
    await sleep(50);
  }
  throw new Error('ntfy did not become healthy');
}
