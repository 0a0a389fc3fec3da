import type { SettingsView } from '../../../../services/contracts/control/settings.ts';
import { parseQuietSpans } from '../../../../services/contracts/quiet-hours.ts';

/** The quiet hours that popups of this machine have of their own. */
export function ownHoursOf({ sections }: Pick<SettingsView, 'sections'>): readonly string[] {
  const field = sections.find(({ id }) => id === 'host')?.fields.find(({ name }) => name === 'quietHours');
  return Array.isArray(field?.value) ? field.value.map(String) : [];
}

/** Quiet hours as a form shows them: on which days they begin, from when to when. */
export interface QuietRow {
  /** Monday is 0. */
  readonly days: readonly number[];
  /** `22:00` */
  readonly from: string;
  readonly to: string;
}

export const dayTitles = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const everyDay = [0, 1, 2, 3, 4, 5, 6];
const day = 24 * 60;

/** A line as the settings keep it: `mon-fri 22:00-07:00`. */
export function rowOf(line: string): QuietRow {
  const spans = parseQuietSpans([line]);
  const [first] = spans;
  if (first === undefined) return { days: everyDay, from: '22:00', to: '07:00' };
  const days = spans.map(({ from }) => Math.floor(from / day));
  return {
    days: everyDay.filter((each) => days.includes(each)),
    from: clockTime(first.from % day),
    to: clockTime(first.to % day),
  };
}

/** Days in a row become a range; a row without a day is for every day, as one without a word is. */
export function lineOf({ days, from, to }: QuietRow): string {
  const time = `${from}-${to}`;
  if (days.length === 0 || days.length === everyDay.length) return time;
  const runs: number[][] = [];
  for (const each of everyDay.filter((one) => days.includes(one))) {
    const last = runs.at(-1);
    if (last?.at(-1) === each - 1) last.push(each);
    else runs.push([each]);
  }
  const words = runs.map((run) => {
    const [begin, end] = [nameOf(run[0]), nameOf(run.at(-1))];
    return begin === end ? begin : `${begin}-${end}`;
  });
  return `${words.join(' ')} ${time}`;
}

function nameOf(index = 0): string {
  return (dayTitles[index] ?? '').toLowerCase();
}

function clockTime(minutes: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
