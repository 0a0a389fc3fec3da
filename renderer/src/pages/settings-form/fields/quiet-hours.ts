import type { SettingsView } from '../../../../../services/contracts/control/settings.ts';
import { defineDateFormat } from '../../../../../messages/format.ts';
import { parseQuietSpans } from '../../../../../services/contracts/quiet-hours.ts';

/** Returns the quiet hours of the popups on this computer. */
export function getPopupHours({ sections }: Pick<SettingsView, 'sections'>): readonly string[] {
  const field = sections.find(({ id }) => id === 'host')?.fields.find(({ name }) => name === 'quietHours');
  return Array.isArray(field?.value) ? field.value.map(String) : [];
}

/** Quiet hours in a form: the days they start on, and the times. */
export interface QuietRow {
  /** Monday is 0. */
  readonly days: readonly number[];
  /** Local time such as `22:00`. */
  readonly from: string;
  readonly to: string;
}

/** Days in the notation of the settings file. */
const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const formatWeekday = defineDateFormat({ weekday: 'short', timeZone: 'UTC' });
/** A Monday, in ms since the epoch. */
const monday = Date.UTC(2024, 0, 1);

/** Returns the short titles of the days, Monday first. */
export function listDayTitles(): readonly string[] {
  return dayNames.map((_, index) => formatWeekday(monday + index * 86_400_000));
}

const everyDay = [0, 1, 2, 3, 4, 5, 6];
const dayMinutes = 24 * 60;

/** Parses a line of the settings: `mon-fri 22:00-07:00`. */
export function parseRow(line: string): QuietRow {
  const timeSpans = parseQuietSpans([line]);
  const [first] = timeSpans;
  if (first === undefined) return { days: everyDay, from: '22:00', to: '07:00' };
  const days = timeSpans.map(({ from }) => Math.floor(from / dayMinutes));
  return {
    days: everyDay.filter((each) => days.includes(each)),
    from: clockTime(first.from % dayMinutes),
    to: clockTime(first.to % dayMinutes),
  };
}

/** Formats a row as a line. Consecutive days become a range; a row without days applies every day. */
export function formatLine({ days, from, to }: QuietRow): string {
  const time = `${from}-${to}`;
  if (days.length === 0 || days.length === everyDay.length) return time;
  const dayRanges: number[][] = [];
  for (const each of everyDay.filter((candidate) => days.includes(candidate))) {
    const last = dayRanges.at(-1);
    if (last?.at(-1) === each - 1) last.push(each);
    else dayRanges.push([each]);
  }
  const dayTexts = dayRanges.map((dayRange) => {
    const [begin, end] = [getDayName(dayRange[0]), getDayName(dayRange.at(-1))];
    return begin === end ? begin : `${begin}-${end}`;
  });
  return `${dayTexts.join(' ')} ${time}`;
}

function getDayName(index = 0): string {
  return dayNames[index] ?? '';
}

function clockTime(minutes: number): string {
  const padTwo = (value: number): string => String(value).padStart(2, '0');
  return `${padTwo(Math.floor(minutes / 60))}:${padTwo(minutes % 60)}`;
}
