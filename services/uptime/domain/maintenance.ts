import type { Maintenance, MaintenanceConfig } from '../../contracts/uptime/maintenance.ts';
import { parseCalendarRule } from '../../kit/calendar.ts';
import { cronSlots, type Slot } from './cron.ts';
import { momentOf, utcOf, wallTime, type WallTime } from './time-zone.ts';

/** Configuration from which slots are computed. */
export interface Plan {
  readonly config: MaintenanceConfig;
  readonly zone: string;
  /** Time at which a manual window was enabled. */
  readonly since: number;
}

const dayMs = 86_400_000;
const minuteMs = 60_000;
/** Maximum distance between two days that match a rule by day of the month. */
const farthestDays = 62;
/** Cache of cron slots, because overlapping runs are expensive to find. */
const slotsOfRules = new WeakMap<
  MaintenanceConfig,
  { readonly zone: string; readonly since: number; readonly slots: readonly Slot[] }
>();
const midnight = { hours: 0, minutes: 0, seconds: 0 };

/** Returns the slot that contains a time. */
export function slotAt(plan: Plan, now: number): Slot | undefined {
  return slotsFrom(plan, now, 1).find(({ start }) => start <= now);
}

/** Returns up to `maxSlots` slots that end after `now`, in order. */
export function slotsFrom(plan: Plan, now: number, most: number): Slot[] {
  const { config, zone, since } = plan;
  if (!config.active) return [];
  const [first, last] = rangeOf(plan);
  switch (config.strategy) {
    case 'manual':
      return [{ start: since, end: Infinity }];
    case 'single':
      return first === undefined || last === undefined || last <= now ? [] : [{ start: first, end: last }];
    case 'cron':
      return slotsByRule(plan, [first, last], now, most);
    default: {
      const found: Slot[] = [];
      const begin = Math.max(now - 2 * dayMs, (first ?? -Infinity) - dayMs);
      let date = dateOf(wallTime(begin, zone));
      for (let misses = 0; found.length < most && misses <= farthestDays;) {
        date = nextDate(config, date);
        const slot = clipped(slotOf(config, date, zone), first, last);
        if (last !== undefined && momentOf(atDay(date, midnight), zone) > last) break;
        if (slot !== undefined && slot.end > now) {
          found.push(slot);
          misses = 0;
        } else misses += 1;
        date += dayMs;
      }
      return found;
    }
  }
}

export function statusOf(plan: Plan, now: number): Maintenance['status'] {
  if (!plan.config.active) return 'inactive';
  const [next] = slotsFrom(plan, now, 1);
  if (next === undefined) return 'ended';
  return next.start <= now ? 'under-maintenance' : 'scheduled';
}

/** Returns the wall-clock duration of a slot in seconds; null when it is not fixed. */
export function durationOf(config: MaintenanceConfig): number | null {
  if (config.strategy === 'manual' || config.strategy === 'single') return null;
  return config.strategy === 'cron' ? Math.round(config.durationMinutes * 60) : wallLength(config) / 1000;
}

/** Returns the closest cron rule. */
export function cronOf({ strategy, timeRange, weekdays, daysOfMonth, cron }: MaintenanceConfig): string {
  const [{ hours, minutes } = midnight] = timeRange;
  const at = `${String(minutes)} ${String(hours)}`;
  switch (strategy) {
    case 'recurring-interval':
      return `${at} * * *`;
    case 'recurring-weekday':
      return `${at} * * ${weekdays.join(',')}`;
    case 'recurring-day-of-month':
      return `${at} ${daysOfMonth.map((day) => (typeof day === 'number' ? String(day) : 'L')).join(',')} * *`;
    default:
      return cron;
  }
}

/** Returns messages by field for an invalid window. */
export function windowTrouble(config: MaintenanceConfig): Record<string, string> {
  const { strategy, dateRange, timeRange, weekdays, daysOfMonth } = config;
  const [start, end] = dateRange;
  if (start !== undefined && end !== undefined && end <= start) return { dateRange: 'It has to end after it starts.' };
  if (strategy === 'single' && end === undefined) return { dateRange: 'Say when it starts and when it ends.' };
  if (strategy.startsWith('recurring-')) {
    const [from, to] = timeRange;
    if (from === undefined || to === undefined) return { timeRange: 'Say from when to when.' };
    if (utcOf(atDay(0, from)) === utcOf(atDay(0, to))) return { timeRange: 'It has to last for some time.' };
  }
  if (strategy === 'recurring-weekday' && weekdays.length === 0) return { weekdays: 'Choose a day.' };
  if (strategy === 'recurring-day-of-month' && daysOfMonth.length === 0) return { daysOfMonth: 'Choose a day.' };
  if (strategy !== 'cron') return {};
  if (config.durationMinutes <= 0) return { durationMinutes: 'It has to last for some time.' };
  try {
    parseCalendarRule(withoutSeconds(config.cron), 'UTC');
    return {};
  } catch {
    return { cron: 'Write five fields: minute, hour, day of the month, month, day of the week.' };
  }
}

/** Removes the seconds of a six-field rule of Uptime Kuma, since windows start at full minutes. */
function withoutSeconds(rule: string): string {
  const fields = rule.trim().split(/\s+/);
  const [seconds = ''] = fields;
  return fields.length === 6 && /^[\d*?][\d*,/-]*$/.test(seconds) ? fields.slice(1).join(' ') : rule;
}

/** First and last time of a window. */
type Range = readonly [number | undefined, number | undefined];

function rangeOf({ config, zone }: Plan): Range {
  const [first, last] = config.dateRange.map((text) =>
    momentOf(wallTime(Date.parse(`${text.replace(' ', 'T')}Z`), 'UTC'), zone),
  );
  return [first, last];
}

function slotsByRule({ config, zone, since }: Plan, [first, last]: Range, now: number, most: number): Slot[] {
  const remembered = slotsOfRules.get(config);
  const known = remembered?.zone === zone && remembered.since === since ? remembered.slots : [];
  const repeated = {
    rule: parseCalendarRule(withoutSeconds(config.cron), zone),
    lengthMs: config.durationMinutes * minuteMs,
  };
  const slots = cronSlots({ ...repeated, since: Math.min(since, now), first, last }, now, most, known);
  if (slots.some((slot) => !known.includes(slot))) slotsOfRules.set(config, { zone, since, slots });
  return slots;
}

/** Returns the first matching day at or after a day. Days are midnights in UTC. */
function nextDate(config: MaintenanceConfig, date: number): number {
  if (config.strategy === 'recurring-interval') {
    const step = config.intervalDay * dayMs;
    const [first] = config.dateRange;
    const origin = first === undefined ? 0 : Date.parse(`${first.slice(0, 10)}T00:00:00Z`);
    return origin + Math.ceil((date - origin) / step) * step;
  }
  let at = date;
  for (let days = 0; days < farthestDays && !isDay(config, new Date(at)); days += 1) at += dayMs;
  return at;
}

function isDay({ strategy, weekdays, daysOfMonth }: MaintenanceConfig, date: Date): boolean {
  if (strategy === 'recurring-weekday') return weekdays.includes(date.getUTCDay());
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  const day = date.getUTCDate();
  return daysOfMonth.some((one) => (typeof one === 'number' ? one : last + 1 - Number(one.slice(7))) === day);
}

/** Converts a day into a slot by wall-clock time. A slot that passes midnight ends on the next day. */
function slotOf(config: MaintenanceConfig, date: number, zone: string): Slot {
  const [from = midnight, to = midnight] = config.timeRange;
  const start = momentOf(atDay(date, from), zone);
  const passes = utcOf(atDay(date, to)) <= utcOf(atDay(date, from));
  const end = momentOf(atDay(passes ? date + dayMs : date, to), zone);
  // A slot within the hour that is skipped in spring starts right after it.
  return { start, end: end > start ? end : start + wallLength(config) };
}

function wallLength({ timeRange: [from = midnight, to = midnight] }: MaintenanceConfig): number {
  const length = utcOf(atDay(0, to)) - utcOf(atDay(0, from));
  return length > 0 ? length : length + dayMs;
}

function clipped(slot: Slot, first: number | undefined, last: number | undefined): Slot | undefined {
  const start = Math.max(slot.start, first ?? -Infinity);
  const end = Math.min(slot.end, last ?? Infinity);
  return end > start ? { start, end } : undefined;
}

function dateOf({ year, month, day }: WallTime): number {
  return Date.UTC(year, month - 1, day);
}

function atDay(date: number, time: Pick<WallTime, 'hours' | 'minutes' | 'seconds'>): WallTime {
  const day = new Date(date);
  return { year: day.getUTCFullYear(), month: day.getUTCMonth() + 1, day: day.getUTCDate(), ...time };
}
