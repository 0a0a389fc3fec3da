import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';

/** Compared program: the id of its first process, and its port. */
export interface Peer extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
}

/** Folder in which the compared programs are installed, outside of the repository. */
const installed = fileURLToPath(new URL('../../.cache/bench', import.meta.url));

/** Release that is measured for comparison; see docs/reference/mail.md. */
const mailriseRelease = 'mailrise==1.4.0';

/**
 * Starts a real Apprise API from a checkout of its source with its own requirements and settings: gunicorn with gevent,
 * and its default number of workers for this computer. The web server of its image is omitted, which saves it some
 * work.
 */
export async function startApprise(checkout: string, folder: string): Promise<Peer> {
  const python = createVirtualEnvironment('apprise-api', ['-r', join(checkout, 'requirements.txt')]);
  const app = join(checkout, 'apprise_api');
  mkdirSync(join(folder, 'attach'), { recursive: true });
  const port = await freePort();
  const gunicornArguments = [
    '--config',
    join(app, 'gunicorn.conf.py'),
    '--pythonpath',
    app,
    '--bind',
    `127.0.0.1:${port}`,
  ];
  return start(join(python, 'gunicorn'), [...gunicornArguments, 'core.wsgi:application'], port, {
    cwd: app,
    env: { ...process.env, APPRISE_CONFIG_DIR: folder, APPRISE_ATTACH_DIR: join(folder, 'attach') },
  });
}

/** Starts a real Mailrise that sends every mail to one destination. */
export async function startMailrise(folder: string, destination: string): Promise<Peer> {
  const python = createVirtualEnvironment('mailrise', [mailriseRelease]);
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const config = join(folder, 'mailrise.conf');
  const settings = {
    listen: { host: '127.0.0.1', port },
    configs: { alerts: { urls: [destination] } },
  };
  // The configuration is YAML, which includes JSON.
  writeFileSync(config, JSON.stringify(settings));
  return start(join(python, 'mailrise'), [config], port, {});
}

/**
 * Returns the programs folder of a Python environment; creates the environment with these packages if it is missing.
 */
function createVirtualEnvironment(name: string, packages: readonly string[]): string {
  const folder = join(installed, name);
  const complete = join(folder, 'complete');
  if (!existsSync(complete)) {
    mkdirSync(installed, { recursive: true });
    run('python3', ['-m', 'venv', '--clear', folder]);
    run(join(folder, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages]);
    writeFileSync(complete, '');
  }
  return join(folder, 'bin');
}

function run(program: string, gunicornArguments: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, gunicornArguments, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${gunicornArguments.join(' ')}: ${error?.message ?? stderr}`);
}

async function start(
  program: string,
  gunicornArguments: readonly string[],
  port: number,
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
): Promise<Peer> {
  const child = spawn(program, gunicornArguments, { ...options, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const peer = {
    pid: child.pid ?? 0,
    port,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${program} ended before it answered`);
    if (await answers(port)) return peer;
    await sleep(100);
  }
  await peer[Symbol.asyncDispose]();
  throw new Error(`${program} did not answer`);
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  } finally {
    socket.destroy();
  }
}
