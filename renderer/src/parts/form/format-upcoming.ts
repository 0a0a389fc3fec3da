const hour = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat('en', { weekday: 'long' });

/** Formats a future time: `now`, `in 4 min`, `at 14:05`, `on Tuesday at 07:00`. */
export function formatUpcoming(time: number, now: number): string {
  const minutes = Math.ceil((time - now) / 60_000);
  if (minutes <= 0) return 'now';
  if (minutes < 60) return `in ${String(minutes)} min`;
  const isToday = new Date(time).toDateString() === new Date(now).toDateString();
  return isToday ? `at ${hour.format(time)}` : `on ${day.format(time)} at ${hour.format(time)}`;
}
