import { chmod, chown, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Rights and owner that files and folders get; what is undefined stays as the system makes it. */
export interface Rights {
  readonly fileMode?: number | undefined;
  readonly folderMode?: number | undefined;
  readonly owner?: number | undefined;
  readonly group?: number | undefined;
}

interface RightsSettings {
  readonly umask: string;
  readonly owner: number | null;
  readonly group: number | null;
}

/** Whether this process may give files to others. */
const isRoot = process.platform !== 'win32' && process.getuid?.() === 0;

/** What the settings ask for, as far as this process may do it. */
export function rightsOf({ umask, owner, group }: RightsSettings): Rights {
  const modes = process.platform !== 'win32' && umask !== '';
  const mask = Number.parseInt(umask || '0', 8);
  return {
    ...(modes ? { fileMode: 0o666 & ~mask, folderMode: 0o777 & ~mask } : {}),
    ...(isRoot ? { owner: owner ?? undefined, group: group ?? undefined } : {}),
  };
}

/** What of the settings cannot be done here, for the log; undefined when all can. */
export function rightsProblem({ umask, owner, group }: RightsSettings): string | undefined {
  if (process.platform === 'win32' && umask !== '') return 'UMASK means nothing on Windows';
  const given = owner !== null || group !== null;
  return given && !isRoot ? 'UID and GID are left out: only root may give files to others' : undefined;
}

export async function setFileRights(path: string, { fileMode, owner, group }: Rights): Promise<void> {
  await give(path, owner, group);
  if (fileMode !== undefined) await chmod(path, fileMode);
}

/** Makes a folder and those above it; only what is new gets the rights. */
export async function makeFolders(path: string, { folderMode, owner, group }: Rights): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) {
    await give(made, owner, group);
    if (folderMode !== undefined) await chmod(made, folderMode);
    if (made === dirname(made)) return;
  }
}

async function give(path: string, owner: number | undefined, group: number | undefined): Promise<void> {
  if (owner === undefined && group === undefined) return;
  const now = await stat(path);
  await chown(path, owner ?? now.uid, group ?? now.gid);
}
