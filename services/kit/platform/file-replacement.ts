import { renameSync, rmSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { currentPlatform } from './current-platform.ts';

/** Pauses in ms before the further attempts, about two seconds together. */
const pausesMs = [10, 20, 40, 80, 150, 250, 350, 450, 550];
const inUseCodes = ['EACCES', 'EBUSY', 'EPERM'];

/** Returns whether an error of a rename or removal may pass because another program has the file open. */
export function isPassingFileError(error: unknown, platform: NodeJS.Platform = currentPlatform): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // Elsewhere these codes mean missing permissions, and open files do not hinder.
  return platform === 'win32' && inUseCodes.includes(code);
}

/**
 * Runs a rename or removal again while another program has the file open: on Windows, virus scanners and indexers open
 * new files for a moment. Makes at most ten attempts within about two seconds.
 */
export async function retryWhileInUse<Result>(
  operation: () => Promise<Result>,
  platform: NodeJS.Platform = currentPlatform,
): Promise<Result> {
  for (const pauseMs of pausesMs) {
    try {
      return await operation();
    } catch (error) {
      if (!isPassingFileError(error, platform)) throw error;
      await setTimeout(pauseMs);
    }
  }
  return await operation();
}

/** Does the same as {@link retryWhileInUse} without returning to the event loop. */
export function retryWhileInUseSync<Result>(
  operation: () => Result,
  platform: NodeJS.Platform = currentPlatform,
): Result {
  for (const pauseMs of pausesMs) {
    try {
      return operation();
    } catch (error) {
      if (!isPassingFileError(error, platform)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
  return operation();
}

/** Renames a file atomically and replaces an existing file with the new name. */
export async function replaceFile(
  from: string,
  to: string,
  platform: NodeJS.Platform = currentPlatform,
): Promise<void> {
  await retryWhileInUse(() => rename(from, to), platform);
}

/** Does the same as {@link replaceFile} synchronously. */
export function replaceFileSync(from: string, to: string, platform: NodeJS.Platform = currentPlatform): void {
  retryWhileInUseSync(() => renameSync(from, to), platform);
}

/** Renames a folder to a name that is free. */
export async function moveFolder(from: string, to: string, platform: NodeJS.Platform = currentPlatform): Promise<void> {
  await retryWhileInUse(() => rename(from, to), platform);
}

/** Renames a file or folder to a name that is free, synchronously. */
export function moveFolderSync(from: string, to: string, platform: NodeJS.Platform = currentPlatform): void {
  retryWhileInUseSync(() => renameSync(from, to), platform);
}

/**
 * Removes a file or a folder with its content, if it exists. A file that a program adds during the removal is removed
 * as well.
 */
export async function removeTree(path: string, platform: NodeJS.Platform = currentPlatform): Promise<void> {
  await retryWhileInUse(() => retryWhileFilled(() => rm(path, { recursive: true, force: true })), platform);
}

/** Does the same as {@link removeTree} synchronously. */
export function removeTreeSync(path: string, platform: NodeJS.Platform = currentPlatform): void {
  retryWhileInUseSync(() => rmSync(path, { recursive: true, force: true }), platform);
}

async function retryWhileFilled(remove: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await remove();
    } catch (error) {
      const isFilled = error instanceof Error && 'code' in error && error.code === 'ENOTEMPTY';
      if (!isFilled || attempt === maxRemovals) throw error;
      await setTimeout(removalPauseMs);
    }
  }
}

const maxRemovals = 4;
const removalPauseMs = 100;
