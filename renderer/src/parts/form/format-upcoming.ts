import * as m from '#messages/parts';
import { defineDateFormat } from '../../../../messages/format.ts';

const hour = defineDateFormat({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = defineDateFormat({ weekday: 'long' });

/** Formats a future time: `now`, `in 4 min`, `at 14:05`, `on Tuesday at 07:00`. */
export function formatUpcoming(time: number, now: number): string {
  const minutes = Math.ceil((time - now) / 60_000);
  if (minutes <= 0) return m.now();
  if (minutes < 60) return m.inMinutes({ minutes });
  const isToday = new Date(time).toDateString() === new Date(now).toDateString();
  return isToday ? m.atTime({ time: hour(time) }) : m.onDayAtTime({ day: day(time), time: hour(time) });
}
