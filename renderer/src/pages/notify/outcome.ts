import type { NotifyNotice } from '../../../../services/contracts/notify-history.ts';

/** How a notice stands over all its destinations, in a word and with what it looks like. */
export function outcomeOf({ deliveries }: NotifyNotice): {
  readonly words: string;
  readonly tone: 'ok' | 'warn' | 'bad';
} {
  const count = (state: string): number => deliveries.filter((each) => each.state === state).length;
  const [dead, waiting, all] = [count('dead'), count('waiting'), deliveries.length];
  if (dead > 0) return { words: dead === all ? 'Failed' : `${String(dead)} of ${String(all)} failed`, tone: 'bad' };
  if (waiting > 0) return { words: waiting === all ? 'Waiting' : `${String(waiting)} waiting`, tone: 'warn' };
  return { words: 'Delivered', tone: 'ok' };
}

const hour = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false });
const day = new Intl.DateTimeFormat('en', { weekday: 'long' });

/** A coming time in as few words as tell it: `now`, `in 4 min`, `at 14:05`, `on Tuesday at 07:00`. */
export function soon(time: number, now: number): string {
  const minutes = Math.ceil((time - now) / 60_000);
  if (minutes <= 0) return 'now';
  if (minutes < 60) return `in ${String(minutes)} min`;
  const same = new Date(time).toDateString() === new Date(now).toDateString();
  return same ? `at ${hour.format(time)}` : `on ${day.format(time)} at ${hour.format(time)}`;
}
