/** Returns 8:00 of the next day in the time zone of the browser, in ms since the epoch. */
export function getTomorrowMorning(now: number): number {
  const morning = new Date(now);
  morning.setDate(morning.getDate() + 1);
  return morning.setHours(8, 0, 0, 0);
}
