import { open, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { EngineLibrary } from '../../../services/contracts/control/engines.ts';
import { parseLauncher } from './launcher.ts';
import type { PythonFinder } from './python.ts';
import { mayRun, systemPath } from './places.ts';

/** End-of-archive record of a zip, at the very end even with a program in front. */
const archiveEnd = Buffer.from('PK\u0005\u0006', 'latin1');
const maxEndBytes = 66_000;
const maxScriptBytes = 64 * 1024;

/** Returns the name of the release's archive beside a launcher of ours. */
export function archiveName(name: string): string {
  return `${name}.zip`;
}

export interface LibraryOptions {
  readonly platform: NodeJS.Platform;
  readonly python: PythonFinder;
}

/**
 * Returns how to import the library behind an executable: a launcher of ours with a folder of packages, an archive
 * that Python runs, or a script that names its interpreter. Nothing is executed: the import shows whether it works.
 */
export async function findLibrary(
  { name, python: its }: Pick<EngineSpec, 'name' | 'python'>,
  executable: string,
  { platform, python: pythons }: LibraryOptions,
): Promise<EngineLibrary | undefined> {
  if (its === undefined || (platform === 'win32' && its.importedOnly !== true)) return undefined;
  const path = await realpath(executable);
  const packages = join(dirname(path), 'packages');
  if (await isFolder(join(packages, its.module))) {
    const python = (await readLauncher(path)) ?? (await pythons.find());
    return python === undefined ? undefined : { python, path: packages };
  }
  const archive = join(dirname(path), archiveName(name));
  if (await isFile(archive)) {
    const python = await readLauncher(path);
    return python === undefined ? undefined : { python, path: archive };
  }
  if (!(await head(path)).startsWith('#!')) return undefined;
  if (await isArchive(path)) {
    const python = await pythons.find();
    return python === undefined ? undefined : { python, path };
  }
  const python = await findInterpreter(await head(path), platform);
  return python === undefined ? undefined : { python, path: '' };
}

/** Parses `#!/usr/bin/python3` and `#!/usr/bin/env python3`. */
async function findInterpreter(script: string, platform: NodeJS.Platform): Promise<string | undefined> {
  const [program = '', ...rest] = (/^#!\s*(.+)/.exec(script)?.[1] ?? '').trim().split(/\s+/);
  const name = program.endsWith('/env') ? (rest[0] ?? '') : program;
  if (!/python[\d.]*$/.test(name)) return undefined;
  if (!name.startsWith('/')) return await systemPath(name, platform);
  return (await mayRun(name, platform)) ? name : undefined;
}

async function readLauncher(path: string): Promise<string | undefined> {
  return parseLauncher(Buffer.from(await head(path), 'latin1').toString('utf8'));
}

async function head(path: string): Promise<string> {
  if ((await stat(path)).size <= maxScriptBytes) return await readFile(path, 'latin1');
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
  return buffer.toString('latin1', 0, bytesRead);
}

/** Returns whether Python runs the program from an archive. */
export async function isArchive(path: string): Promise<boolean> {
  const { size } = await stat(path);
  await using file = await open(path);
  const length = Math.min(size, maxEndBytes);
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.includes(archiveEnd);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}
