import type { DownloadLimits } from '../../../../services/contracts/downloads/limits.ts';
import { formatBytes } from '../../parts/text/format.ts';

/** The limits on a button: `1.5 MB/s at most · only at set hours`. */
export function limitWords({ limits: { speed, hours } }: { readonly limits: DownloadLimits }): string {
  const words = [
    speed === null ? '' : `${formatBytes(speed)}/s at most`,
    hours.length === 0 ? '' : 'only at set hours',
  ].filter(Boolean);
  return words.length === 0 ? 'Speed limit: none' : words.join(' · ');
}

const hour = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat('en', { weekday: 'long' });

/** A moment to come: `at 22:00`, `on Saturday at 09:00`. */
export function moment(time: number, now: number): string {
  const today = new Date(time).toDateString() === new Date(now).toDateString();
  const soon = time - now < 12 * 3_600_000;
  return `${today || soon ? '' : `on ${day.format(time)} `}at ${hour.format(time)}`;
}
