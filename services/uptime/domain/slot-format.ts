const timeOptions: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

/**
 * Formats a time span in a time zone and repeats the date only when it differs: `Sunday, March 29, 03:00 to 04:00
 * (Europe/Berlin)`.
 */
export function formatSlot({ start, end }: { readonly start: number; readonly end: number }, zone: string): string {
  const dateFormat = new Intl.DateTimeFormat('en', { timeZone: zone, weekday: 'long', month: 'long', day: 'numeric' });
  const timeFormat = new Intl.DateTimeFormat('en', { timeZone: zone, ...timeOptions });
  const formatMoment = (timestamp: number): string =>
    `${dateFormat.format(timestamp)}, ${timeFormat.format(timestamp)}`;
  const endText = !Number.isFinite(end)
    ? ', until somebody ends it'
    : ` to ${dateFormat.format(start) === dateFormat.format(end) ? timeFormat.format(end) : formatMoment(end)}`;
  return `${formatMoment(start)}${endText} (${zone})`;
}
