import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Returns the owner of leases: `<machine, boot and process space>|<pid>|<start of the process>|<worker>`. With it a
 * later process can detect that some owners are gone, without waiting for their leases to expire.
 */
export function leaseOwner(worker: string): string {
  return [processSpace(), process.pid, startedAt(), worker].join('|');
}

/** Returns whether an owner has certainly ended; unknown for other boots and containers. */
export function isGone(owner: string): boolean {
  const [space = '', pid = '', started = ''] = owner.split('|');
  if (space !== processSpace()) return false;
  if (Number(pid) === process.pid) return started !== String(startedAt());
  return !isAlive(Number(pid));
}

/** Process ids are valid only within one boot of one computer, and within one container. */
function processSpace(): string {
  const bootFile = '/proc/sys/kernel/random/boot_id';
  const namespaceLink = '/proc/self/ns/pid';
  const boot = existsSync(bootFile) ? readFileSync(bootFile, 'utf8').trim() : '';
  const namespace = existsSync(namespaceLink) ? readlinkSync(namespaceLink) : '';
  return `${hostname()}/${boot}/${namespace}`.replaceAll('|', '');
}

function startedAt(): number {
  return Math.round(performance.timeOrigin);
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
