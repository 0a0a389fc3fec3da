import * as m from '#messages/downloads';
import { defineDateFormat } from '../../../../../messages/format.ts';
import type { DownloadLimits } from '../../../../../services/contracts/downloads/limits.ts';
import { formatBytes } from '../../../parts/text/format.ts';

/** Formats the limits for a button, such as `1.5 MB/s at most · only at set hours`. */
export function formatLimits({ limits: { speed, hours } }: { readonly limits: DownloadLimits }): string {
  const labels = [
    speed === null ? '' : m.speedLimit({ speed: m.perSecond({ size: formatBytes(speed) }) }),
    hours.length === 0 ? '' : m.limitedHours(),
  ].filter(Boolean);
  return labels.length === 0 ? m.noLimits() : labels.join(' · ');
}

const formatTime = defineDateFormat({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const formatWeekday = defineDateFormat({ weekday: 'long' });

/** Formats a future time, such as `at 22:00` or `on Saturday at 09:00`. */
export function formatFutureTime(time: number, now: number): string {
  const today = new Date(time).toDateString() === new Date(now).toDateString();
  const isWithinHalfDay = time - now < 12 * 3_600_000;
  return today || isWithinHalfDay
    ? m.atTime({ time: formatTime(time) })
    : m.onDayAtTime({ day: formatWeekday(time), time: formatTime(time) });
}
