// Runs the commands of the set-up in separate process groups, so that they end together with the set-up.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const windows = process.platform === 'win32';
const running = new Set();
let ending = false;

/** Prints a message and ends the process with code 1. */
export function stop(message) {
  console.error(message);
  process.exit(1);
}

/**
 * Runs a command until it ends. With `quiet`, its output is returned instead of shown. Resolves with `status` (null if the
 * command was killed or does not exist, which sets `missing`), `stdout` and `stderr`.
 */
export function run(command, args, { quiet = false, cwd = root, env = {} } = {}) {
  const path = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`;
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
      shell: windows,
      detached: !windows,
      env: { ...process.env, PATH: path, ...env },
    });
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text) => (stderr += text));
    running.add(child);
    const finish = (result) => {
      running.delete(child);
      // A command that ends because the set-up ends is not a failure.
      if (!ending) resolve({ missing: false, stdout, stderr, ...result });
      else if (running.size === 0) process.exit(ending);
    };
    child.once('error', (error) => finish({ status: null, missing: error.code === 'ENOENT', stderr: error.message }));
    child.once('close', (status) => finish({ status }));
  });
}

/** Ends running commands and then the set-up after a signal or after the end of the parent npm. */
export function endOnSignals() {
  const end = (signal) => {
    if (ending) return;
    ending = 128 + constants.signals[signal];
    if (running.size === 0) process.exit(ending);
    for (const child of running) kill(child, 'SIGTERM');
    setTimeout(() => {
      for (const child of running) kill(child, 'SIGKILL');
      process.exit(ending);
    }, 5000);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(signal));
  if (process.env.npm_lifecycle_event === undefined) return;
  // npm ends its shell with SIGTERM, which does not reach this process.
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) end('SIGTERM');
  }, 500).unref();
}

function kill(child, signal) {
  try {
    if (windows) child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
