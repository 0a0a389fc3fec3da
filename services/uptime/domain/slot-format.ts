import * as m from '#messages/uptime-texts';
import { getLocale } from '../../../messages/language.ts';

const timeOptions: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

/**
 * Formats a time span in a time zone and repeats the date only when it differs: `Sunday, March 29, 03:00 to 04:00
 * (Europe/Berlin).`
 */
export function formatSlot({ start, end }: { readonly start: number; readonly end: number }, zone: string): string {
  const dateOptions: Intl.DateTimeFormatOptions = { weekday: 'long', month: 'long', day: 'numeric' };
  const dateFormat = new Intl.DateTimeFormat(getLocale(), { timeZone: zone, ...dateOptions });
  const timeFormat = new Intl.DateTimeFormat(getLocale(), { timeZone: zone, ...timeOptions });
  const formatMoment = (timestamp: number): string =>
    `${dateFormat.format(timestamp)}, ${timeFormat.format(timestamp)}`;
  if (!Number.isFinite(end)) return m.slotUntilEnded({ start: formatMoment(start), zone });
  const isSameDay = dateFormat.format(start) === dateFormat.format(end);
  return m.slot({ start: formatMoment(start), end: isSameDay ? timeFormat.format(end) : formatMoment(end), zone });
}
