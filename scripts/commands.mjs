// Runs the set-up's commands, each in a process group of its own, so that none goes on when the set-up is ended.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** The project's folder. */
export const root = fileURLToPath(new URL('..', import.meta.url));

const windows = process.platform === 'win32';
const running = new Set();
let ending = false;

/** One sentence, and the end. */
export function stop(message) {
  console.error(message);
  process.exit(1);
}

/**
 * Runs a command to its end. `quiet` keeps its output for the answer, else it is shown. Resolves with its `status` (null
 * when it was killed or is not there: `missing`), `stdout` and `stderr`.
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
    const over = (answer) => {
      running.delete(child);
      // What ended because we end has failed for no reason of its own.
      if (!ending) resolve({ missing: false, stdout, stderr, ...answer });
      else if (running.size === 0) process.exit(ending);
    };
    child.once('error', (error) => over({ status: null, missing: error.code === 'ENOENT', stderr: error.message }));
    child.once('close', (status) => over({ status }));
  });
}

/** A signal, or the end of the npm that runs us, ends the command that runs and then the set-up. */
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
  // npm ends its shell by SIGTERM, which does not tell us.
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
