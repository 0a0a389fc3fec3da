import * as m from '#messages/uptime-problems';
import type { Maintenance, MaintenanceConfig } from '../../contracts/uptime/maintenance.ts';
import { parseCalendarRule } from '../../kit/calendar.ts';
import { findCronSlots, type Slot } from './cron.ts';
import { toTimestamp, toUtc, getWallTime, type WallTime } from './time-zone.ts';

/** Configuration from which slots are computed. */
export interface MaintenancePlan {
  readonly config: MaintenanceConfig;
  readonly zone: string;
  /** Time at which a manual window was enabled. */
  readonly since: number;
}

const dayMs = 86_400_000;
const minuteMs = 60_000;
/** Maximum distance between two days that match a rule by day of the month. */
const maxSearchDays = 62;
/** Cache of cron slots, because overlapping runs are expensive to find. */
const cronSlotCache = new WeakMap<
  MaintenanceConfig,
  { readonly zone: string; readonly since: number; readonly slots: readonly Slot[] }
>();
const midnight = { hours: 0, minutes: 0, seconds: 0 };

/** Returns the slot that contains a time. */
export function findSlotAt(plan: MaintenancePlan, now: number): Slot | undefined {
  return findSlots(plan, now, 1).find(({ start }) => start <= now);
}

/** Returns up to `maxSlots` slots that end after `now`, in order. */
export function findSlots(plan: MaintenancePlan, now: number, maxSlots: number): Slot[] {
  const { config, zone, since } = plan;
  if (!config.active) return [];
  const [first, last] = getRange(plan);
  switch (config.strategy) {
    case 'manual':
      return [{ start: since, end: Infinity }];
    case 'single':
      return first === undefined || last === undefined || last <= now ? [] : [{ start: first, end: last }];
    case 'cron':
      return findSlotsByRule(plan, [first, last], now, maxSlots);
    default: {
      const slots: Slot[] = [];
      const searchStart = Math.max(now - 2 * dayMs, (first ?? -Infinity) - dayMs);
      let date = toUtcDate(getWallTime(searchStart, zone));
      for (let emptyDays = 0; slots.length < maxSlots && emptyDays <= maxSearchDays;) {
        date = findNextDate(config, date);
        const slot = clipSlot(toSlot(config, date, zone), first, last);
        if (last !== undefined && toTimestamp(toWallTimeOfDay(date, midnight), zone) > last) break;
        if (slot !== undefined && slot.end > now) {
          slots.push(slot);
          emptyDays = 0;
        } else emptyDays += 1;
        date += dayMs;
      }
      return slots;
    }
  }
}

export function getMaintenanceStatus(plan: MaintenancePlan, now: number): Maintenance['status'] {
  if (!plan.config.active) return 'inactive';
  const [next] = findSlots(plan, now, 1);
  if (next === undefined) return 'ended';
  return next.start <= now ? 'under-maintenance' : 'scheduled';
}

/** Returns the wall-clock duration of a slot in seconds; null when it is not fixed. */
export function getDurationSeconds(config: MaintenanceConfig): number | null {
  if (config.strategy === 'manual' || config.strategy === 'single') return null;
  return config.strategy === 'cron' ? Math.round(config.durationMinutes * 60) : getWallDurationMs(config) / 1000;
}

/** Returns the closest cron rule. */
export function toCronRule({ strategy, timeRange, weekdays, daysOfMonth, cron }: MaintenanceConfig): string {
  const [{ hours, minutes } = midnight] = timeRange;
  const candidate = `${String(minutes)} ${String(hours)}`;
  switch (strategy) {
    case 'recurring-interval':
      return `${candidate} * * *`;
    case 'recurring-weekday':
      return `${candidate} * * ${weekdays.join(',')}`;
    case 'recurring-day-of-month':
      return `${candidate} ${daysOfMonth.map((day) => (typeof day === 'number' ? String(day) : 'L')).join(',')} * *`;
    default:
      return cron;
  }
}

/** Returns messages by field for an invalid window. */
export function validateWindow(config: MaintenanceConfig): Record<string, string> {
  const { strategy, dateRange, timeRange, weekdays, daysOfMonth } = config;
  const [start, end] = dateRange;
  if (start !== undefined && end !== undefined && end <= start) return { dateRange: m.maintenanceEndsFirst() };
  if (strategy === 'single' && end === undefined) return { dateRange: m.maintenanceTimesMissing() };
  if (strategy.startsWith('recurring-')) {
    const [from, to] = timeRange;
    if (from === undefined || to === undefined) return { timeRange: m.maintenanceTimeOfDayMissing() };
    if (toUtc(toWallTimeOfDay(0, from)) === toUtc(toWallTimeOfDay(0, to)))
      return { timeRange: m.maintenanceTooShort() };
  }
  if (strategy === 'recurring-weekday' && weekdays.length === 0) return { weekdays: m.maintenanceDaysMissing() };
  if (strategy === 'recurring-day-of-month' && daysOfMonth.length === 0)
    return { daysOfMonth: m.maintenanceDaysMissing() };
  if (strategy !== 'cron') return {};
  if (config.durationMinutes <= 0) return { durationMinutes: m.maintenanceTooShort() };
  try {
    parseCalendarRule(withoutSeconds(config.cron), 'UTC');
    return {};
  } catch {
    return { cron: m.cronInvalid() };
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

function getRange({ config, zone }: MaintenancePlan): Range {
  const [first, last] = config.dateRange.map((text) =>
    toTimestamp(getWallTime(Date.parse(`${text.replace(' ', 'T')}Z`), 'UTC'), zone),
  );
  return [first, last];
}

function findSlotsByRule(
  { config, zone, since }: MaintenancePlan,
  [first, last]: Range,
  now: number,
  maxSlots: number,
): Slot[] {
  const cached = cronSlotCache.get(config);
  const cachedSlots = cached?.zone === zone && cached.since === since ? cached.slots : [];
  const schedule = {
    rule: parseCalendarRule(withoutSeconds(config.cron), zone),
    lengthMs: config.durationMinutes * minuteMs,
  };
  const slots = findCronSlots(
    { ...schedule, enabledSince: Math.min(since, now), first, last },
    now,
    maxSlots,
    cachedSlots,
  );
  if (slots.some((slot) => !cachedSlots.includes(slot))) cronSlotCache.set(config, { zone, since, slots });
  return slots;
}

/** Returns the first matching day at or after a day. Days are midnights in UTC. */
function findNextDate(config: MaintenanceConfig, date: number): number {
  if (config.strategy === 'recurring-interval') {
    const step = config.intervalDay * dayMs;
    const [first] = config.dateRange;
    const origin = first === undefined ? 0 : Date.parse(`${first.slice(0, 10)}T00:00:00Z`);
    return origin + Math.ceil((date - origin) / step) * step;
  }
  let candidate = date;
  for (let days = 0; days < maxSearchDays && !isMaintenanceDay(config, new Date(candidate)); days += 1)
    candidate += dayMs;
  return candidate;
}

function isMaintenanceDay({ strategy, weekdays, daysOfMonth }: MaintenanceConfig, date: Date): boolean {
  if (strategy === 'recurring-weekday') return weekdays.includes(date.getUTCDay());
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  const day = date.getUTCDate();
  return daysOfMonth.some((one) => (typeof one === 'number' ? one : last + 1 - Number(one.slice(7))) === day);
}

/** Converts a day into a slot by wall-clock time. A slot that passes midnight ends on the next day. */
function toSlot(config: MaintenanceConfig, date: number, zone: string): Slot {
  const [from = midnight, to = midnight] = config.timeRange;
  const start = toTimestamp(toWallTimeOfDay(date, from), zone);
  const isOvernight = toUtc(toWallTimeOfDay(date, to)) <= toUtc(toWallTimeOfDay(date, from));
  const end = toTimestamp(toWallTimeOfDay(isOvernight ? date + dayMs : date, to), zone);
  // A slot within the hour that is skipped in spring starts right after it.
  return { start, end: end > start ? end : start + getWallDurationMs(config) };
}

function getWallDurationMs({ timeRange: [from = midnight, to = midnight] }: MaintenanceConfig): number {
  const length = toUtc(toWallTimeOfDay(0, to)) - toUtc(toWallTimeOfDay(0, from));
  return length > 0 ? length : length + dayMs;
}

function clipSlot(slot: Slot, first: number | undefined, last: number | undefined): Slot | undefined {
  const start = Math.max(slot.start, first ?? -Infinity);
  const end = Math.min(slot.end, last ?? Infinity);
  return end > start ? { start, end } : undefined;
}

function toUtcDate({ year, month, day }: WallTime): number {
  return Date.UTC(year, month - 1, day);
}

function toWallTimeOfDay(date: number, time: Pick<WallTime, 'hours' | 'minutes' | 'seconds'>): WallTime {
  const day = new Date(date);
  return { year: day.getUTCFullYear(), month: day.getUTCMonth() + 1, day: day.getUTCDate(), ...time };
}
