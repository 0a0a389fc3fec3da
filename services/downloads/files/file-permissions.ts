import { chmod, chown, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasFileModes } from '../../kit/platform/file-systems.ts';

/** Mode and owner of new files and folders; undefined keeps the system's default. */
export interface FilePermissions {
  readonly fileMode?: number | undefined;
  readonly folderMode?: number | undefined;
  readonly owner?: number | undefined;
  readonly group?: number | undefined;
}

interface PermissionSettings {
  readonly umask: string;
  readonly owner: number | null;
  readonly group: number | null;
}

/** Only root may change the owner of files. */
const isRoot = hasFileModes() && process.getuid?.() === 0;

/** Returns the permissions of the settings that this process may apply. */
export function getPermissions({ umask, owner, group }: PermissionSettings): FilePermissions {
  const hasMode = hasFileModes() && umask !== '';
  const umaskBits = Number.parseInt(umask || '0', 8);
  return {
    ...(hasMode ? { fileMode: 0o666 & ~umaskBits, folderMode: 0o777 & ~umaskBits } : {}),
    ...(isRoot ? { owner: owner ?? undefined, group: group ?? undefined } : {}),
  };
}

/** Explains which settings cannot be applied, for the log; undefined when all can. */
export function findPermissionProblem({ umask, owner, group }: PermissionSettings): string | undefined {
  if (!hasFileModes() && umask !== '') return 'UMASK has no effect on Windows';
  const hasOwner = owner !== null || group !== null;
  return hasOwner && !isRoot ? 'UID and GID have no effect: only root may change the owner of files' : undefined;
}

export async function setFilePermissions(path: string, { fileMode, owner, group }: FilePermissions): Promise<void> {
  await changeOwner(path, owner, group);
  if (fileMode !== undefined) await chmod(path, fileMode);
}

/** Creates a folder and its parents; only new folders get the permissions. */
export async function createFolders(path: string, { folderMode, owner, group }: FilePermissions): Promise<void> {
  const firstCreated = await mkdir(path, { recursive: true });
  if (firstCreated === undefined) return;
  for (let created = path; created.length >= firstCreated.length; created = dirname(created)) {
    await changeOwner(created, owner, group);
    if (folderMode !== undefined) await chmod(created, folderMode);
    if (created === dirname(created)) return;
  }
}

async function changeOwner(path: string, owner: number | undefined, group: number | undefined): Promise<void> {
  if (owner === undefined && group === undefined) return;
  const now = await stat(path);
  await chown(path, owner ?? now.uid, group ?? now.gid);
}
