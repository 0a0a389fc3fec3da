/** Format of a PostgreSQL timestamp with time zone: `2026-11-27 13:56:00.123+00`. */
const timestampPattern = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)?([+-]\d\d)(:\d\d)?$/;
const localFormat = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' });

/** Checks that a column type is a timestamp with time zone, which the grid shows in local time. */
export function isTimestamp(type: string): boolean {
  return /^timestamp\b.* with time zone$/.test(type);
}

/** Formats a value for the grid: times without fractions of a second, timestamps in local time. */
export function formatCell(value: string, type: string): string {
  const [, day, time, hours, minutes = ':00'] = (isTimestamp(type) && timestampPattern.exec(value)) || [];
  if (day !== undefined) return localFormat.format(new Date(`${day}T${time}${hours}${minutes}`));
  return /^time/.test(type) ? value.replace(/(:\d\d)\.\d+/, '$1') : value;
}
