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

/** How often a saved sync runs, in words: `Every Monday at 03:00`, by which clock where that is not the browser's; empty without a calendar. */
export function rhythmWords({ cron, zone }: Pick<SyncTask, 'cron' | 'zone'>): string {
  const { rhythm, time, weekday } = timesOf(cron);
  const words: Readonly<Record<Rhythm, string>> = {
    never: '',
    hour: 'Every hour',
    day: `Every day at ${time}`,
    week: `Every ${days[Number(weekday)] ?? 'week'} at ${time}`,
    own: `By the rule ${cron ?? ''}`,
  };
  const isElsewhere = cron !== null && zone !== '' && zone !== Intl.DateTimeFormat().resolvedOptions().timeZone;
  return isElsewhere ? `${words[rhythm]} in ${zone}` : words[rhythm];
}

/** The rule of cron that the form means; null: no calendar. */
export function cronOf({ rhythm, time, weekday }: Times): string | null {
  if (rhythm === 'never') return null;
  if (rhythm === 'hour') return '0 * * * *';
  const [hour = '3', minute = '0'] = time.split(':').map((part) => String(Number(part)));
  return `${minute} ${hour} * * ${rhythm === 'week' ? weekday : '*'}`;
}
