import { fromBytes, toBytes } from '../bytes.ts';
import { callString } from '../format/formatter.ts';
import { formatGoDuration } from '../time/duration.ts';
import { formatMoment } from '../time/layout.ts';
import { Moment, toMoment } from '../time/moment.ts';
import { utc } from '../time/zone.ts';
import { Integer, type Value } from '../values.ts';
import { getLocalZone } from './date-functions.ts';
import { defineFunction, type TemplateFunction } from './signature.ts';

const nanosecondsPerSecond = 1_000_000_000n;

function toInt(value: number): Integer {
  return new Integer(value);
}

/** Methods of a time without arguments: `now.Year`. */
const momentMethods = new Map<string, (moment: Moment) => Value>([
  ['Year', (moment) => toInt(moment.civil().year)],
  ['Month', (moment) => new Integer(moment.civil().month, 'time.Month')],
  ['Day', (moment) => toInt(moment.civil().day)],
  ['Weekday', (moment) => new Integer(moment.civil().weekday, 'time.Weekday')],
  ['YearDay', (moment) => toInt(moment.civil().yearDay)],
  ['Hour', (moment) => toInt(moment.civil().hour)],
  ['Minute', (moment) => toInt(moment.civil().minute)],
  ['Second', (moment) => toInt(moment.civil().second)],
  ['Nanosecond', (moment) => toInt(moment.civil().nanosecond)],
  ['Unix', (moment) => new Integer(moment.unix, 'int64')],
  ['UnixMilli', (moment) => new Integer(moment.nanoseconds / 1_000_000n, 'int64')],
  ['UnixMicro', (moment) => new Integer(moment.nanoseconds / 1_000n, 'int64')],
  ['UnixNano', (moment) => new Integer(moment.nanoseconds, 'int64')],
  ['IsZero', (moment) => moment.isZero],
  ['UTC', (moment) => moment.in(utc)],
  ['String', (moment) => callString(moment)],
]);

/** Methods of a time that take another time: `now.Before $t`. */
const comparisonMethods = new Map<string, (moment: Moment, other: Moment) => Value>([
  ['Sub', (moment, other) => new Integer(moment.nanoseconds - other.nanoseconds, 'time.Duration')],
  ['Before', (moment, other) => moment.nanoseconds < other.nanoseconds],
  ['After', (moment, other) => moment.nanoseconds > other.nanoseconds],
  ['Equal', (moment, other) => moment.nanoseconds === other.nanoseconds],
  [
    'Compare',
    (moment, other) =>
      toInt(moment.nanoseconds < other.nanoseconds ? -1 : moment.nanoseconds > other.nanoseconds ? 1 : 0),
  ],
]);

/** Methods of a time with other arguments: `$t.Format "15:04"`. */
const argumentMethods = new Map<string, (moment: Moment) => TemplateFunction>([
  ['Local', (moment) => defineFunction([], (_none, run) => moment.in(getLocalZone(run)))],
  ['Format', (moment) => defineFunction(['string'], ([layout]) => toBytes(formatMoment(moment, fromBytes(layout))))],
  ['Add', (moment) => defineFunction(['duration'], ([span]) => moment.plus(span))],
  [
    'AddDate',
    (moment) =>
      defineFunction(['int', 'int', 'int'], ([years, months, days]) => {
        const { year, month, day, ...clock } = moment.civil();
        return toMoment({ ...clock, year: year + years, month: month + months, day: day + days }, moment.zone);
      }),
  ],
  [
    'Truncate',
    (moment) => defineFunction(['duration'], ([span]) => moment.plus(span <= 0n ? 0n : -(sinceYearOne(moment) % span))),
  ],
  [
    'Round',
    (moment) =>
      defineFunction(['duration'], ([span]) => {
        if (span <= 0n) return moment;
        const remainder = sinceYearOne(moment) % span;
        return moment.plus(remainder * 2n < span ? -remainder : span - remainder);
      }),
  ],
]);

/** Returns a method of a time: `now.Year`, `$t.Format "15:04"`. */
function momentMethod(moment: Moment, name: string): TemplateFunction | undefined {
  const method = momentMethods.get(name);
  if (method !== undefined) return defineFunction([], () => method(moment));
  const comparison = comparisonMethods.get(name);
  if (comparison !== undefined) return defineFunction(['time'], ([other]) => comparison(moment, other));
  return argumentMethods.get(name)?.(moment);
}

function sinceYearOne(moment: Moment): bigint {
  return moment.nanoseconds - Moment.zero().nanoseconds;
}

/** Returns a method of a duration: `($a.Sub $b).Hours`. */
function durationMethod({ value }: Integer, name: string): TemplateFunction | undefined {
  const methods: Readonly<Record<string, () => Value>> = {
    Hours: () => Number(value) / Number(3600n * nanosecondsPerSecond),
    Minutes: () => Number(value) / Number(60n * nanosecondsPerSecond),
    Seconds: () => Number(value) / Number(nanosecondsPerSecond),
    Milliseconds: () => new Integer(value / 1_000_000n, 'int64'),
    Microseconds: () => new Integer(value / 1_000n, 'int64'),
    Nanoseconds: () => new Integer(value, 'int64'),
    Abs: () => new Integer(value < 0n ? -value : value, 'time.Duration'),
    String: () => toBytes(formatGoDuration(value)),
  };
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (method !== undefined) return defineFunction([], method);
  if (name === 'Truncate') {
    return defineFunction(
      ['duration'],
      ([span]) => new Integer(span <= 0n ? value : value - (value % span), 'time.Duration'),
    );
  }
  return undefined;
}

/** Returns a method of a value; undefined without one of that name. */
export function findMethod(value: Value, name: string): TemplateFunction | undefined {
  if (value instanceof Moment) return momentMethod(value, name);
  if (!(value instanceof Integer)) return undefined;
  if (value.type === 'time.Duration') return durationMethod(value, name);
  const isNamed = value.type === 'time.Month' || value.type === 'time.Weekday';
  return isNamed && name === 'String' ? defineFunction([], () => callString(value)) : undefined;
}
