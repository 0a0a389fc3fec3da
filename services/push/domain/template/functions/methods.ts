import { fromBytes, toBytes } from '../bytes.ts';
import { stringOf } from '../format/formatter.ts';
import { writeDuration } from '../time/duration.ts';
import { formatMoment } from '../time/layout.ts';
import { Moment, momentOf } from '../time/moment.ts';
import { utc } from '../time/zone.ts';
import { Integer, type Value } from '../values.ts';
import { localZone } from './date-functions.ts';
import { takes, type TemplateFunction } from './signature.ts';

const second = 1_000_000_000n;

function int(value: number): Integer {
  return new Integer(value);
}

/** What a template may call on a time: `now.Year`, `$t.Format "15:04"`. */
function momentMethod(moment: Moment, name: string): TemplateFunction | undefined {
  const plain = (call: () => Value): TemplateFunction => takes([], call);
  const other = (call: (other: Moment) => Value): TemplateFunction => takes(['time'], ([given]) => call(given));
  const { nanoseconds } = moment;
  switch (name) {
    case 'Year':
      return plain(() => int(moment.civil().year));
    case 'Month':
      return plain(() => new Integer(moment.civil().month, 'time.Month'));
    case 'Day':
      return plain(() => int(moment.civil().day));
    case 'Weekday':
      return plain(() => new Integer(moment.civil().weekday, 'time.Weekday'));
    case 'YearDay':
      return plain(() => int(moment.civil().yearDay));
    case 'Hour':
      return plain(() => int(moment.civil().hour));
    case 'Minute':
      return plain(() => int(moment.civil().minute));
    case 'Second':
      return plain(() => int(moment.civil().second));
    case 'Nanosecond':
      return plain(() => int(moment.civil().nanosecond));
    case 'Unix':
      return plain(() => new Integer(moment.unix, 'int64'));
    case 'UnixMilli':
      return plain(() => new Integer(nanoseconds / 1_000_000n, 'int64'));
    case 'UnixMicro':
      return plain(() => new Integer(nanoseconds / 1_000n, 'int64'));
    case 'UnixNano':
      return plain(() => new Integer(nanoseconds, 'int64'));
    case 'IsZero':
      return plain(() => moment.isZero);
    case 'UTC':
      return plain(() => moment.in(utc));
    case 'Local':
      return takes([], (_none, run) => moment.in(localZone(run)));
    case 'String':
      return plain(() => stringOf(moment));
    case 'Format':
      return takes(['string'], ([layout]) => toBytes(formatMoment(moment, fromBytes(layout))));
    case 'Add':
      return takes(['duration'], ([span]) => moment.plus(span));
    case 'AddDate':
      return takes(['int', 'int', 'int'], ([years, months, days]) => {
        const { year, month, day, ...clock } = moment.civil();
        return momentOf({ ...clock, year: year + years, month: month + months, day: day + days }, moment.zone);
      });
    case 'Sub':
      return other((from) => new Integer(nanoseconds - from.nanoseconds, 'time.Duration'));
    case 'Before':
      return other((than) => nanoseconds < than.nanoseconds);
    case 'After':
      return other((than) => nanoseconds > than.nanoseconds);
    case 'Equal':
      return other((to) => nanoseconds === to.nanoseconds);
    case 'Compare':
      return other((to) => int(nanoseconds < to.nanoseconds ? -1 : nanoseconds > to.nanoseconds ? 1 : 0));
    case 'Truncate':
      return takes(['duration'], ([span]) => moment.plus(span <= 0n ? 0n : -(sinceYearOne(moment) % span)));
    case 'Round':
      return takes(['duration'], ([span]) => {
        if (span <= 0n) return moment;
        const over = sinceYearOne(moment) % span;
        return moment.plus(over * 2n < span ? -over : span - over);
      });
    default:
      return undefined;
  }
}

function sinceYearOne(moment: Moment): bigint {
  return moment.nanoseconds - Moment.zero().nanoseconds;
}

/** What a template may call on a span of time: `($a.Sub $b).Hours`. */
function durationMethod({ value }: Integer, name: string): TemplateFunction | undefined {
  const parts: Readonly<Record<string, () => Value>> = {
    Hours: () => Number(value) / Number(3600n * second),
    Minutes: () => Number(value) / Number(60n * second),
    Seconds: () => Number(value) / Number(second),
    Milliseconds: () => new Integer(value / 1_000_000n, 'int64'),
    Microseconds: () => new Integer(value / 1_000n, 'int64'),
    Nanoseconds: () => new Integer(value, 'int64'),
    Abs: () => new Integer(value < 0n ? -value : value, 'time.Duration'),
    String: () => toBytes(writeDuration(value)),
  };
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (part !== undefined) return takes([], part);
  if (name === 'Truncate') {
    return takes(['duration'], ([span]) => new Integer(span <= 0n ? value : value - (value % span), 'time.Duration'));
  }
  return undefined;
}

/** The method of a value by its name; undefined when it has none of that name. */
export function methodOf(value: Value, name: string): TemplateFunction | undefined {
  if (value instanceof Moment) return momentMethod(value, name);
  if (!(value instanceof Integer)) return undefined;
  if (value.type === 'time.Duration') return durationMethod(value, name);
  const isWord = value.type === 'time.Month' || value.type === 'time.Weekday';
  return isWord && name === 'String' ? takes([], () => stringOf(value)) : undefined;
}
