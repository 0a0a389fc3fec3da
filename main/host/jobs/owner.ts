import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Who holds a lease: `<machine, boot and process space>|<pid>|<start of the process>|<worker>`. Told apart so finely,
 * a later process can say of some owners with certainty that they are gone, and need not wait for their leases to end.
 */
export function leaseOwner(worker: string): string {
  return [processSpace(), process.pid, startedAt(), worker].join('|');
}

/** Whether an owner has certainly ended; of other boots and containers nobody can tell. */
export function isGone(owner: string): boolean {
  const [space = '', pid = '', started = ''] = owner.split('|');
  if (space !== processSpace()) return false;
  if (Number(pid) === process.pid) return started !== String(startedAt());
  return !isAlive(Number(pid));
}

/** Process ids mean something only within one boot of one machine, and within one container of it. */
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
    // EPERM: there is one, of another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
