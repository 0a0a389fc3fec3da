import { spawnSync } from 'node:child_process';

/**
 * Whether a test may be left out since what it needs is not here. Never where `CI` is set: there it runs, and fails by
 * what is missing.
 */
export function lacks(isHere: boolean): boolean {
  return !isHere && process.env['CI'] === undefined;
}

/** The same of a program on the path. */
export function lacksProgram(name: string): boolean {
  return lacks(spawnSync(name, ['--version']).error === undefined);
}
