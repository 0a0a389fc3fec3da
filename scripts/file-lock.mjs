// A lock file: two concurrent set-ups would delete each other's packages.
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const renewMs = 2000;
/** Time without a renewal after which a lock is abandoned, even if its process ID is in use again. */
const maxSilenceMs = 30_000;

/** Waits for the lock and acquires it. It is released when the process ends. */
export async function acquireFileLock(lock, print) {
  mkdirSync(dirname(lock), { recursive: true });
  for (let isReported = false; ;) {
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
      if (!isReported) print('Another start is setting things up; waiting for it …');
      isReported = true;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

function isAbandoned(lock) {
  try {
    const silence = Date.now() - statSync(lock).mtimeMs;
    const holder = readFileSync(lock, 'utf8');
    // The lock may have been created but not written yet.
    if (holder === '') return silence > renewMs;
    return silence > maxSilenceMs || !isRunning(Number(holder));
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
