/** As PostgreSQL writes a moment: `2026-11-27 13:56:00.123+00`. */
const moment = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)?([+-]\d\d)(:\d\d)?$/;
const local = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' });

/** Whether values of a column are moments, which the grid tells by the clock of who reads. */
export function isMoment(type: string): boolean {
  return /^timestamp\b.* with time zone$/.test(type);
}

/** A value as the grid shows it: a time to the second, since nobody looks for more in a list, and a moment by the reader's clock. */
export function cellWords(value: string, type: string): string {
  const [, day, time, hours, minutes = ':00'] = (isMoment(type) && moment.exec(value)) || [];
  if (day !== undefined) return local.format(new Date(`${day}T${time}${hours}${minutes}`));
  return /^time/.test(type) ? value.replace(/(:\d\d)\.\d+/, '$1') : value;
}
