const today = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const near = new Intl.DateTimeFormat('en', { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const far = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const other = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' });
const week = 6 * 86_400_000;

/** A time to come, in ms, in as few words as tell it: `in 4 min`, `Today 20:16, in 9 h`, `Tue 14:05`, `Tue, Mar 3, 14:05`. */
export function ahead(time: number, now: number): string {
  const left = time - now;
  if (left < 60_000) return 'in a moment';
  if (left < 3_600_000) return `in ${String(Math.round(left / 60_000))} min`;
  if (new Date(time).toDateString() === new Date(now).toDateString())
    return `Today ${today.format(time)}${inHours(left)}`;
  if (left < 24 * 3_600_000) return `${near.format(time)}${inHours(left)}`;
  if (left < week) return near.format(time);
  return new Date(time).getFullYear() === new Date(now).getFullYear() ? far.format(time) : other.format(time);
}

function inHours(left: number): string {
  return `, in ${String(Math.round(left / 3_600_000))} h`;
}

/** As a field for date and time has it, in local time; empty for none. */
export function toField(time: number | null): string {
  if (time === null) return '';
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** ms since the epoch; null for an empty field. */
export function fromField(text: string): number | null {
  const time = text === '' ? Number.NaN : new Date(text).getTime();
  return Number.isNaN(time) ? null : time;
}

/** The time zone of this browser. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
