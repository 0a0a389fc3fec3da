import { existsSync } from 'node:fs';
import { readFile, readlink, rm, symlink } from 'node:fs/promises';

/**
 * Returns whether this process acquired the claim at the path. A claim of an ended process is ignored. The claim is
 * created together with the name of its holder in one step, so that a killed process never leaves a claim without a
 * holder.
 */
export async function claim(path: string): Promise<boolean> {
  try {
    await symlink(`${process.pid}@${(await readStartTime(process.pid)) ?? ''}`, path);
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const holder = await readlink(path).catch(() => undefined);
  const [pid, start] = holder?.split('@') ?? [];
  if (pid !== undefined && existsSync('/proc/self') && (await readStartTime(Number(pid))) !== start) {
    await rm(path, { force: true });
  }
  return false;
}

/** Returns the start time of a process in ticks of the system, since process IDs are reused. */
async function readStartTime(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat?.slice(stat.lastIndexOf(')')).split(' ')[20];
}
