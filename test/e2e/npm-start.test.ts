import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testEnvironment } from '../support/host.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

let dataDir: string;
let npm: ChildProcess;
/** The host's own number: its parent is npm. */
let host: number;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-npm-'));
  // The set-up before `npm start` is left out, since `npm test` has just done it.
  npm = spawn('npm', ['start', '--ignore-scripts', '--', '--headless', '--data-dir', dataDir], {
    cwd: root,
    env: { ...testEnvironment(dataDir), HOMEPORT_STOP_TIMEOUT: '20' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group, as under a terminal.
    detached: true,
  });
  const lines: string[] = [];
  const ready = Promise.withResolvers<void>();
  for (const input of [npm.stdout, npm.stderr]) {
    if (input === null) continue;
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      if (line.startsWith('ready ')) ready.resolve();
    });
  }
  npm.on('exit', () => ready.reject(new Error(lines.join('\n'))));
  await ready.promise;
  host = (JSON.parse(readFileSync(join(dataDir, 'running.json'), 'utf8')) as { pid: number }).pid;
});
afterEach(() => {
  for (const pid of [npm.pid, host]) {
    try {
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended as expected.
    }
  }
  rmSync(dataDir, { recursive: true, force: true });
});

/** The file is deleted with the lock of the data folder, the last step of an orderly end; a killed host leaves it. */
function hasDrained(): boolean {
  return !existsSync(join(dataDir, 'running.json'));
}

async function ended(): Promise<number | NodeJS.Signals | null> {
  if (npm.exitCode === null && npm.signalCode === null) await once(npm, 'exit');
  return npm.exitCode ?? npm.signalCode;
}

describe('npm start', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'waits after %s until the host has drained, and ends with code 0',
    async (signal) => {
      npm.kill(signal);
      expect(await ended()).toBe(0);
      expect(hasDrained()).toBe(true);
    },
  );

  it('waits until the host has drained after Ctrl+C, which the host receives from the terminal and from npm', async () => {
    process.kill(-(npm.pid ?? 0), 'SIGINT');
    expect(await ended()).toBe(0);
    expect(hasDrained()).toBe(true);
  });

  it.each(['SIGHUP', 'SIGKILL'] as const)('drains and ends the host when npm itself ends by %s', async (signal) => {
    npm.kill(signal);
    expect(await ended()).toBe(signal);
    await vi.waitFor(() => expect(hasDrained()).toBe(true), { timeout: 20_000, interval: 50 });
  });

  it('drains when its terminal is closed', async () => {
    process.kill(-(npm.pid ?? 0), 'SIGHUP');
    await vi.waitFor(() => expect(hasDrained()).toBe(true), { timeout: 20_000, interval: 50 });
  });
});
