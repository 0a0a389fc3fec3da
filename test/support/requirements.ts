import { spawnSync } from 'node:child_process';

/**
 * Returns whether a test may be skipped because a requirement is missing. Never with `CI` set: the test runs and fails.
 */
export function isMissing(isHere: boolean): boolean {
  return !isHere && process.env['CI'] === undefined;
}

/** Returns whether a test may be skipped because a program is missing on the path. */
export function lacksProgram(name: string): boolean {
  return isMissing(spawnSync(name, ['--version']).error === undefined);
}
