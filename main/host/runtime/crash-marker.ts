import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const markerName = '.crashed';
const reportName = '.fatal-error.json';

/**
 * Lets Node write a report when V8 ends the process, such as for lack of memory. The report marks the crash as
 * {@link markCrash} does. The environment is left out, since it may contain secrets.
 */
export function reportFatalErrors(dataDir: string): void {
  const { report } = process;
  report.directory = dataDir;
  report.filename = reportName;
  report.excludeEnv = true;
  report.reportOnFatalError = true;
}

/** Notes synchronously that an error ends the process. Never throws, since the process ends anyway. */
export function markCrash(dataDir: string): void {
  try {
    writeFileSync(join(dataDir, markerName), '');
  } catch {
    // On a full disk the crash counts as an end from outside.
  }
}

/**
 * Returns whether an error ended the previous process on this data folder, and removes the marks. A signal, such as
 * `kill -9`, or a power failure leaves no mark.
 */
export function takeCrashMark(dataDir: string): boolean {
  let crashed = false;
  for (const name of [markerName, reportName]) {
    try {
      rmSync(join(dataDir, name));
      crashed = true;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  return crashed;
}
