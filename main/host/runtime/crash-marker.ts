import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const markerName = '.crashed';

/** Notes synchronously that an error ends the process. Never throws, since the process ends anyway. */
export function markCrash(dataDir: string): void {
  try {
    writeFileSync(join(dataDir, markerName), '');
  } catch {
    // On a full disk the crash counts as an end from outside.
  }
}

/**
 * Returns whether an error ended the previous process on this data folder, and removes the mark. A signal, such as
 * `kill -9`, a power failure, or V8 without memory leaves no mark.
 */
export function takeCrashMark(dataDir: string): boolean {
  try {
    rmSync(join(dataDir, markerName));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
