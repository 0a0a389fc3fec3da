// Starts a packed app without a window, downloads one file, runs a query in PostgreSQL and ends the app:
// node scripts/smoke-packed.mjs PROGRAM [ARGUMENT …]
// The address of the download is SMOKE_VIDEO_URL; without it, nothing is downloaded.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { isWindows } from './commands.mjs';

const [program, ...args] = process.argv.slice(2);
const dataDir = mkdtempSync(join(tmpdir(), 'homeport-smoke-'));
const password = 'harbour lantern quay 7';
const video = process.env.SMOKE_VIDEO_URL ?? '';
const child = spawn(program, [...args, '--headless', '--data-dir', dataDir], {
  env: {
    ...process.env,
    HOMEPORT_ADMIN_USER: 'ada',
    HOMEPORT_ADMIN_PASSWORD: password,
    HOMEPORT_OPEN_BROWSER: 'false',
    HOMEPORT_INSTALL_ENGINES: String(video !== ''),
    HOMEPORT_KEYRING: 'false',
    DOWNLOAD_DIR: join(dataDir, 'files'),
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});

/** Resolves with the address of the app API once all services have started. */
async function waitUntilReady() {
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line);
    const address = /^ready .*\bcontrol=(\S+)/.exec(line)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error('the app ended before it was ready');
}

async function call(base, path, body) {
  const response = await fetch(base + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`,
      'Content-Type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}

async function download(base) {
  await call(base, '/api/downloads', { url: video });
  for (;;) {
    const { history } = await call(base, '/api/downloads');
    if (history.length > 0) {
      if (history[0].state !== 'finished') throw new Error(`download: ${JSON.stringify(history[0])}`);
      return;
    }
    await pause(1000);
  }
}

const limit = setTimeout(() => {
  console.error('the app took longer than 10 minutes');
  child.kill('SIGKILL');
  process.exit(1);
}, 600_000);
try {
  const base = await waitUntilReady();
  child.stdout.resume();
  if (video !== '') await download(base);
  const result = await call(base, '/api/data/sql', { query: 'SELECT version()' });
  if (!JSON.stringify(result).includes('PostgreSQL')) throw new Error(`PostgreSQL: ${JSON.stringify(result)}`);
  // Windows has no signals: the process is ended there without closing its services.
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  if (!isWindows && child.exitCode !== 0) throw new Error(`exit code ${child.exitCode}`);
  console.log('ok');
} finally {
  clearTimeout(limit);
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
