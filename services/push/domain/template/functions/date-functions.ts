import { fromBytes, toBytes } from '../bytes.ts';
import { ExecutionError } from '../errors.ts';
import type { TemplateRun } from '../run.ts';
import { parseGoDuration, formatGoDuration } from '../time/duration.ts';
import { formatMoment } from '../time/layout.ts';
import { Moment } from '../time/moment.ts';
import { parseMoment } from '../time/parse-time.ts';
import { utc, findZone, type Zone } from '../time/zone.ts';
import { Integer, type Value } from '../values.ts';
import { parseInteger } from './convert.ts';
import { defineFunction, type TemplateFunction } from './signature.ts';

const nanosecondsPerSecond = 1_000_000_000n;

export function getLocalZone({ environment }: TemplateRun): Zone {
  return findZone('Local', environment.zone) ?? utc;
}

export function getNow(run: TemplateRun): Moment {
  return new Moment(BigInt(Math.round(run.environment.now() * 1000)) * 1000n, getLocalZone(run));
}

/** Converts a time or unix seconds; other values become the current time, as in ntfy. */
function toMoment(value: Value, run: TemplateRun): Moment {
  if (value instanceof Moment) return value;
  const isSeconds = value instanceof Integer && (value.type === 'int' || value.type === 'int64');
  return isSeconds ? Moment.fromSeconds(value.value, getLocalZone(run)) : getNow(run);
}

function formatInZone(layout: string, value: Value, zone: string, run: TemplateRun): string {
  const moment = toMoment(value, run).in(findZone(fromBytes(zone), run.environment.zone) ?? utc);
  return toBytes(formatMoment(moment, fromBytes(layout)));
}

function addDuration(duration: string, moment: Moment): Moment {
  const nanoseconds = parseGoDuration(fromBytes(duration));
  if (nanoseconds === undefined) throw new ExecutionError(`time: invalid duration "${duration}"`);
  return moment.plus(nanoseconds);
}

function formatAge(value: Value, run: TemplateRun): string {
  const elapsed = getNow(run).nanoseconds - toMoment(value, run).nanoseconds;
  const half = elapsed < 0n ? -nanosecondsPerSecond / 2n : nanosecondsPerSecond / 2n;
  return formatGoDuration(((elapsed + half) / nanosecondsPerSecond) * nanosecondsPerSecond);
}

function toSeconds(value: Value): bigint {
  if (typeof value === 'string') return parseInteger(value) ?? 0n;
  return value instanceof Integer && value.type === 'int64' ? value.value : 0n;
}

const units: readonly (readonly [string, bigint])[] = [
  ['y', 365n * 86_400n * nanosecondsPerSecond],
  ['mo', 30n * 86_400n * nanosecondsPerSecond],
  ['d', 86_400n * nanosecondsPerSecond],
  ['h', 3600n * nanosecondsPerSecond],
  ['m', 60n * nanosecondsPerSecond],
  ['s', nanosecondsPerSecond],
];

/** Formats the largest unit only: `2400h10m5s` is `3mo`. */
function formatRounded(value: Value, run: TemplateRun): string {
  let nanoseconds = 0n;
  if (typeof value === 'string') nanoseconds = parseGoDuration(fromBytes(value)) ?? 0n;
  else if (value instanceof Integer && value.type === 'int64') nanoseconds = value.value;
  else if (value instanceof Moment) nanoseconds = getNow(run).nanoseconds - value.nanoseconds;
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const [name, unit] = units.find(([, length]) => size > length) ?? ['s', size + 1n];
  return `${String(size / unit)}${name}`;
}

function parse(layout: string, text: string, run: TemplateRun): Moment {
  return parseMoment(fromBytes(layout), fromBytes(text), getLocalZone(run));
}

/** Returns the result of `call`, or the fallback when it fails. */
function withFallback(call: () => Moment, fallback: Moment): Moment {
  try {
    return call();
  } catch (error) {
    if (error instanceof ExecutionError) return fallback;
    throw error;
  }
}

const dateInZone = defineFunction(['string', 'any', 'string'], ([layout, value, zone], run) =>
  formatInZone(layout, value, zone, run),
);
const dateModify = defineFunction(['string', 'time'], ([duration, moment]) =>
  withFallback(() => addDuration(duration, moment), moment),
);
const mustDateModify = defineFunction(['string', 'time'], ([duration, moment]) => addDuration(duration, moment));

/** Sprig's functions for dates. */
export const dateFunctions: Readonly<Record<string, TemplateFunction>> = {
  now: defineFunction([], (_none, run) => getNow(run)),
  ago: defineFunction(['any'], ([value], run) => formatAge(value, run)),
  date: defineFunction(['string', 'any'], ([layout, value], run) => formatInZone(layout, value, 'Local', run)),
  dateInZone,
  date_in_zone: dateInZone,
  dateModify,
  date_modify: dateModify,
  mustDateModify,
  must_date_modify: mustDateModify,
  htmlDate: defineFunction(['any'], ([value], run) => formatInZone('2006-01-02', value, 'Local', run)),
  htmlDateInZone: defineFunction(['any', 'string'], ([value, zone], run) =>
    formatInZone('2006-01-02', value, zone, run),
  ),
  duration: defineFunction(['any'], ([value]) => toBytes(formatGoDuration(toSeconds(value) * nanosecondsPerSecond))),
  durationRound: defineFunction(['any'], ([value], run) => formatRounded(value, run)),
  toDate: defineFunction(['string', 'string'], ([layout, text], run) =>
    withFallback(() => parse(layout, text, run), Moment.zero()),
  ),
  mustToDate: defineFunction(['string', 'string'], ([layout, text], run) => parse(layout, text, run)),
  unixEpoch: defineFunction(['time'], ([moment]) => String(moment.unix)),
};
