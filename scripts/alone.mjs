// Two set-ups at once would take each other's packages away.
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const renewMs = 2000;
/** Without a sign of life for so long a holder counts as gone, whoever may have its process number by now. */
const longestSilenceMs = 30_000;

/** Takes the lock, waiting for its holder; the end of the process gives it back. */
export async function alone(lock, tell) {
  mkdirSync(dirname(lock), { recursive: true });
  for (let told = false; ;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      process.on('exit', () => rmSync(lock, { force: true }));
      setInterval(() => utimesSync(lock, new Date(), new Date()), renewMs).unref();
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    else {
      if (!told) tell('Another start is setting things up; waiting for it …');
      told = true;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

function isAbandoned(lock) {
  try {
    const silence = Date.now() - statSync(lock).mtimeMs;
    const holder = readFileSync(lock, 'utf8');
    // Caught between being made and being written.
    if (holder === '') return silence > renewMs;
    return silence > longestSilenceMs || !isRunning(Number(holder));
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

function isRunning(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
