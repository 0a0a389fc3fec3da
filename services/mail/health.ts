import type { Health } from '../contracts/health.ts';

/** Returns the health of the service with the time of the last mail, if any. */
export function getHealth(lastReceivedAt: number | undefined, now: number): Health {
  const detail = lastReceivedAt === undefined ? 'No mail yet' : `Last mail ${formatAge(now - lastReceivedAt)}`;
  const begin = { label: 'Send a first mail', to: '/delivery/connect' };
  return { state: 'up', detail, ...(lastReceivedAt === undefined ? { begin } : {}) };
}

function formatAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}
