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

/** Returns a method of a time: `now.Year`, `$t.Format "15:04"`. */
function momentMethod(moment: Moment, name: string): TemplateFunction | undefined {
  const withoutArguments = (call: () => Value): TemplateFunction => defineFunction([], call);
  const withMoment = (call: (withMoment: Moment) => Value): TemplateFunction =>
    defineFunction(['time'], ([argument]) => call(argument));
  const { nanoseconds } = moment;
  switch (name) {
    case 'Year':
      return withoutArguments(() => toInt(moment.civil().year));
    case 'Month':
      return withoutArguments(() => new Integer(moment.civil().month, 'time.Month'));
    case 'Day':
      return withoutArguments(() => toInt(moment.civil().day));
    case 'Weekday':
      return withoutArguments(() => new Integer(moment.civil().weekday, 'time.Weekday'));
    case 'YearDay':
      return withoutArguments(() => toInt(moment.civil().yearDay));
    case 'Hour':
      return withoutArguments(() => toInt(moment.civil().hour));
    case 'Minute':
      return withoutArguments(() => toInt(moment.civil().minute));
    case 'Second':
      return withoutArguments(() => toInt(moment.civil().second));
    case 'Nanosecond':
      return withoutArguments(() => toInt(moment.civil().nanosecond));
    case 'Unix':
      return withoutArguments(() => new Integer(moment.unix, 'int64'));
    case 'UnixMilli':
      return withoutArguments(() => new Integer(nanoseconds / 1_000_000n, 'int64'));
    case 'UnixMicro':
      return withoutArguments(() => new Integer(nanoseconds / 1_000n, 'int64'));
    case 'UnixNano':
      return withoutArguments(() => new Integer(nanoseconds, 'int64'));
    case 'IsZero':
      return withoutArguments(() => moment.isZero);
    case 'UTC':
      return withoutArguments(() => moment.in(utc));
    case 'Local':
      return defineFunction([], (_none, run) => moment.in(getLocalZone(run)));
    case 'String':
      return withoutArguments(() => callString(moment));
    case 'Format':
      return defineFunction(['string'], ([layout]) => toBytes(formatMoment(moment, fromBytes(layout))));
    case 'Add':
      return defineFunction(['duration'], ([span]) => moment.plus(span));
    case 'AddDate':
      return defineFunction(['int', 'int', 'int'], ([years, months, days]) => {
        const { year, month, day, ...clock } = moment.civil();
        return toMoment({ ...clock, year: year + years, month: month + months, day: day + days }, moment.zone);
      });
    case 'Sub':
      return withMoment((from) => new Integer(nanoseconds - from.nanoseconds, 'time.Duration'));
    case 'Before':
      return withMoment((than) => nanoseconds < than.nanoseconds);
    case 'After':
      return withMoment((than) => nanoseconds > than.nanoseconds);
    case 'Equal':
      return withMoment((to) => nanoseconds === to.nanoseconds);
    case 'Compare':
      return withMoment((to) => toInt(nanoseconds < to.nanoseconds ? -1 : nanoseconds > to.nanoseconds ? 1 : 0));
    case 'Truncate':
      return defineFunction(['duration'], ([span]) => moment.plus(span <= 0n ? 0n : -(sinceYearOne(moment) % span)));
    case 'Round':
      return defineFunction(['duration'], ([span]) => {
        if (span <= 0n) return moment;
        const remainder = sinceYearOne(moment) % span;
        return moment.plus(remainder * 2n < span ? -remainder : span - remainder);
      });
    default:
      return undefined;
  }
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
