const time: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

/**
 * Formats a time span in a time zone and repeats the date only when it differs: `Sunday, March 29, 03:00 to 04:00
 * (Europe/Berlin)`.
 */
export function slotWords({ start, end }: { readonly start: number; readonly end: number }, zone: string): string {
  const whole = new Intl.DateTimeFormat('en', { timeZone: zone, weekday: 'long', month: 'long', day: 'numeric' });
  const clock = new Intl.DateTimeFormat('en', { timeZone: zone, ...time });
  const moment = (at: number): string => `${whole.format(at)}, ${clock.format(at)}`;
  const until = !Number.isFinite(end)
    ? ', until somebody ends it'
    : ` to ${whole.format(start) === whole.format(end) ? clock.format(end) : moment(end)}`;
  return `${moment(start)}${until} (${zone})`;
}
