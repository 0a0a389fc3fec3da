import * as m from '#messages/mail-texts';
import { formatRelative } from '../../messages/format.ts';
import type { Health } from '../contracts/health.ts';

/** Returns the health of the service with the time of the last mail, if any. */
export function getHealth(lastReceivedAt: number | undefined, now: number): Health {
  const detail =
    lastReceivedAt === undefined ? m.noMailYet : () => m.lastMail({ age: formatAge(now - lastReceivedAt) });
  const begin = { label: m.sendTestMail, to: '/delivery/connect' };
  return { state: 'up', detail, ...(lastReceivedAt === undefined ? { begin } : {}) };
}

function formatAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return formatRelative(0, 'second');
  if (minutes < 60) return formatRelative(-minutes, 'minute', 'short');
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? formatRelative(-hours, 'hour', 'short') : formatRelative(-Math.floor(hours / 24), 'day');
}
