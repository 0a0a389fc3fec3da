/** Wall-clock time. */
export interface WallTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
}

const dayMs = 86_400_000;
const minuteMs = 60_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the offset of a zone from UTC in milliseconds. */
function getOffsetMs(timestamp: number, zone: string): number {
  const roundedTimestamp = Math.floor(timestamp / 1000) * 1000;
  return toUtc(getWallTime(roundedTimestamp, zone)) - roundedTimestamp;
}

/** Formats the offset of a zone: "+02:00". */
export function formatOffset(timestamp: number, zone: string): string {
  const minutes = Math.round(getOffsetMs(timestamp, zone) / minuteMs);
  const digits = (value: number): string => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${digits(Math.floor(Math.abs(minutes) / 60))}:${digits(Math.abs(minutes) % 60)}`;
}

/** Converts a time into the wall-clock time of a zone. */
export function getWallTime(timestamp: number, zone: string): WallTime {
  let format = formats.get(zone);
  if (format === undefined) {
    const digits = '2-digit';
    format = new Intl.DateTimeFormat('en-US-u-ca-gregory', {
      ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: digits, day: digits },
      ...{ hour: digits, minute: digits, second: digits },
    });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(timestamp).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return { year, month, day, hours: hour, minutes: minute, seconds: second };
}

/**
 * Converts a wall-clock time into milliseconds since the epoch. A time that occurs twice in autumn means its first
 * occurrence; a time that is skipped in spring means the moment of the change.
 */
export function toTimestamp(time: WallTime, zone: string): number {
  const target = toUtc(time);
  const offsetBefore = getOffsetMs(target - dayMs, zone);
  const offsetAfter = getOffsetMs(target + dayMs, zone);
  const candidate = [target - offsetBefore, target - offsetAfter]
    .toSorted((a, b) => a - b)
    .find((moment) => moment + getOffsetMs(moment, zone) === target);
  if (candidate !== undefined) return candidate;
  let [low, high] = [target - Math.max(offsetBefore, offsetAfter), target - Math.min(offsetBefore, offsetAfter)];
  const initialOffset = getOffsetMs(low, zone);
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2000) * 1000;
    if (getOffsetMs(middle, zone) === initialOffset) low = middle;
    else high = middle;
  }
  return high;
}

/** Interprets a wall-clock time as UTC; days beyond the end of the month overflow. */
export function toUtc({ year, month, day, hours, minutes, seconds }: WallTime): number {
  return Date.UTC(year, month - 1, day, hours, minutes, seconds);
}
