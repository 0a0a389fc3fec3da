import type { SyncTask } from '../../../../services/contracts/sync/api.ts';

/** How often a saved sync runs, as its form asks. */
export type Rhythm = 'never' | 'hour' | 'day' | 'week' | 'own';

export interface Times {
  readonly rhythm: Rhythm;
  /** `03:00` */
  readonly time: string;
  /** As cron counts: 0 is Sunday. */
  readonly weekday: string;
}

/** A rule of cron as the form shows it. */
export function timesOf(cron: string | null): Times {
  const [time, weekday] = ['03:00', '1'];
  if (cron === null) return { rhythm: 'never', time, weekday };
  if (cron === '0 * * * *') return { rhythm: 'hour', time, weekday };
  const [, minute, hour, day] = /^(\d{1,2}) (\d{1,2}) \* \* (\*|[0-6])$/.exec(cron) ?? [];
  if (minute === undefined || hour === undefined || day === undefined) return { rhythm: 'own', time, weekday };
  const at = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  return day === '*' ? { rhythm: 'day', time: at, weekday } : { rhythm: 'week', time: at, weekday: day };
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** So many minutes the clock of a zone is ahead of this browser's; undefined for a zone that it does not know. */
function minutesAhead(zone: string, now: number): number | undefined {
  try {
    const parts = {
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      hourCycle: 'h23',
    } as const;
    const clockOf = (timeZone?: string): number => {
      const format = new Intl.DateTimeFormat('en', timeZone === undefined ? parts : { ...parts, timeZone });
      const at = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
      return Date.UTC(at['year'] ?? 0, (at['month'] ?? 1) - 1, at['day'], at['hour'], at['minute']);
    };
    return Math.round((clockOf(zone) - clockOf()) / 60_000);
  } catch {
    return undefined;
  }
}

/** The same moment by another clock, so many minutes behind. */
function shifted({ time, weekday, rhythm }: Times, behind: number): Times {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const all = hour * 60 + minute - behind;
  const day = 24 * 60;
  const left = ((all % day) + day) % day;
  const two = (value: number): string => String(value).padStart(2, '0');
  return {
    rhythm,
    time: `${two(Math.floor(left / 60))}:${two(left % 60)}`,
    weekday: String((Number(weekday) + Math.floor(all / day) + 7) % 7),
  };
}

/**
 * How often a saved sync runs, in words: `Every Monday at 03:00`, by the clock of this browser. Where the sync goes by another
 * one that is told, too: `Every day at 02:30, which is 03:30 in Europe/Berlin`. Empty without a calendar.
 */
export function rhythmWords({ cron, zone }: Pick<SyncTask, 'cron' | 'zone'>, now = Date.now()): string {
  const own = timesOf(cron);
  const ahead = cron === null || zone === '' ? 0 : minutesAhead(zone, now);
  if (ahead === undefined || (own.rhythm === 'own' && ahead !== 0)) return `${wordsOf(own, cron)} in ${zone}`;
  const here = shifted(own, ahead);
  if (ahead === 0 || (own.rhythm !== 'day' && own.rhythm !== 'week')) return wordsOf(own, cron);
  const day = here.weekday === own.weekday ? '' : `${days[Number(own.weekday)] ?? ''} `;
  return `${wordsOf(here, cron)}, which is ${own.rhythm === 'week' ? day : ''}${own.time} in ${zone}`;
}

function wordsOf({ rhythm, time, weekday }: Times, cron: string | null): string {
  const words: Readonly<Record<Rhythm, string>> = {
    never: '',
    hour: 'Every hour',
    day: `Every day at ${time}`,
    week: `Every ${days[Number(weekday)] ?? 'week'} at ${time}`,
    own: `By the rule ${cron ?? ''}`,
  };
  return words[rhythm];
}

/** The rule of cron that the form means; null: no calendar. */
export function cronOf({ rhythm, time, weekday }: Times): string | null {
  if (rhythm === 'never') return null;
  if (rhythm === 'hour') return '0 * * * *';
  const [hour = '3', minute = '0'] = time.split(':').map((part) => String(Number(part)));
  return `${minute} ${hour} * * ${rhythm === 'week' ? weekday : '*'}`;
}
