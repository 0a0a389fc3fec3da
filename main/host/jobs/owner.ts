import { getMachineId } from '../../../services/kit/platform/machine-id.ts';
import { isProcessAlive } from '../../../services/kit/platform/process-identity.ts';
import { getProcessSpace } from '../platform/process-space.ts';

/**
 * Returns the owner of leases: `<machine, boot and process space>|<pid>|<start of the process>|<worker>`. With it a
 * later process can detect that some owners are gone, without waiting for their leases to expire.
 */
export function leaseOwner(worker: string): string {
  return [processSpace(), process.pid, startedAt(), worker].join('|');
}

/** Returns the id of the host of an owner; undefined for an owner without one. */
export function findHostId(owner: string): string | undefined {
  const [, , , worker = ''] = owner.split('|');
  const [host, name] = worker.split('/', 2);
  return name === undefined ? undefined : host;
}

/** Returns whether an owner has certainly ended; unknown for other boots and containers. */
export function isGone(owner: string): boolean {
  const [space = '', pid = '', started = ''] = owner.split('|');
  if (space !== processSpace()) return false;
  if (Number(pid) === process.pid) return started !== String(startedAt());
  return !isProcessAlive(Number(pid));
}

/** Process ids are valid only within one boot of one computer, and within one container. */
function processSpace(): string {
  return `${getMachineId()}/${getProcessSpace()}`.replaceAll('|', '');
}

function startedAt(): number {
  return Math.round(performance.timeOrigin);
}
