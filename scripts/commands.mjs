// Runs the commands of the set-up in separate process groups, so that they end together with the set-up. Other scripts
// get the operating system from here.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { getToolFile } from './tool-file.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));

export const { platform } = process;
export const isWindows = platform === 'win32';
const running = new Set();
let ending = false;

/** Prints a message and ends the process with code 1. */
export function stop(message) {
  console.error(message);
  process.exit(1);
}

/** Packages of the programs that the scripts run. */
const toolPackages = { 'svelte-check': 'svelte-check', tsc: 'typescript', vite: 'vite' };

/**
 * Returns a program and its arguments that run without a shell. On Windows the programs of packages and npm are shell
 * scripts, for which Node would need a shell that splits paths at spaces; there Node runs their files.
 */
export function resolveCommand(command, args, onWindows = isWindows) {
  if (!onWindows) return [command, args];
  if (command === 'node') return [getToolFile('node'), args];
  if (command === 'npm') {
    const npm = join(dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js');
    return [process.execPath, [npm, ...args]];
  }
  if (!Object.hasOwn(toolPackages, command)) return [command, args];
  return [getToolFile('node'), [getToolFile(toolPackages[command], command), ...args]];
}

/**
 * Runs a command until it ends. With `quiet`, its output is returned instead of shown. Resolves with `status` (null if the
 * command was killed or does not exist, which sets `missing`), `stdout` and `stderr`.
 */
export function run(command, args, { quiet = false, cwd = root, env = {} } = {}) {
  const path = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`;
  return new Promise((resolve) => {
    const child = spawn(...resolveCommand(command, args), {
      cwd,
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
      detached: !isWindows,
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
    if (isWindows) child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
