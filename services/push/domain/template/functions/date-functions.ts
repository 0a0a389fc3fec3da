import { fromBytes, toBytes } from '../bytes.ts';
import { RunFault } from '../errors.ts';
import type { Run } from '../run.ts';
import { readDuration, writeDuration } from '../time/duration.ts';
import { formatMoment } from '../time/layout.ts';
import { Moment } from '../time/moment.ts';
import { parseMoment } from '../time/parse-time.ts';
import { utc, zoneNamed, type Zone } from '../time/zone.ts';
import { Integer, type Value } from '../values.ts';
import { readInteger } from './convert.ts';
import { takes, type TemplateFunction } from './signature.ts';

const second = 1_000_000_000n;

export function localZone({ surroundings }: Run): Zone {
  return zoneNamed('Local', surroundings.zone) ?? utc;
}

export function nowOf(run: Run): Moment {
  return new Moment(BigInt(Math.round(run.surroundings.now() * 1000)) * 1000n, localZone(run));
}

/** A time, or unix seconds as a whole number; for all else the peer takes the present. */
function momentFor(value: Value, run: Run): Moment {
  if (value instanceof Moment) return value;
  const isSeconds = value instanceof Integer && (value.type === 'int' || value.type === 'int64');
  return isSeconds ? Moment.ofSeconds(value.value, localZone(run)) : nowOf(run);
}

function inZone(layout: string, value: Value, zone: string, run: Run): string {
  const moment = momentFor(value, run).in(zoneNamed(fromBytes(zone), run.surroundings.zone) ?? utc);
  return toBytes(formatMoment(moment, fromBytes(layout)));
}

function moved(by: string, moment: Moment): Moment {
  const nanoseconds = readDuration(fromBytes(by));
  if (nanoseconds === undefined) throw new RunFault(`time: invalid duration "${by}"`);
  return moment.plus(nanoseconds);
}

function ago(value: Value, run: Run): string {
  const passed = nowOf(run).nanoseconds - momentFor(value, run).nanoseconds;
  const half = passed < 0n ? -second / 2n : second / 2n;
  return writeDuration(((passed + half) / second) * second);
}

function secondsOf(value: Value): bigint {
  if (typeof value === 'string') return readInteger(value) ?? 0n;
  return value instanceof Integer && value.type === 'int64' ? value.value : 0n;
}

const units: readonly (readonly [string, bigint])[] = [
  ['y', 365n * 86_400n * second],
  ['mo', 30n * 86_400n * second],
  ['d', 86_400n * second],
  ['h', 3600n * second],
  ['m', 60n * second],
  ['s', second],
];

/** The largest unit alone: `2400h10m5s` is `3mo`. */
function rounded(value: Value, run: Run): string {
  let span = 0n;
  if (typeof value === 'string') span = readDuration(fromBytes(value)) ?? 0n;
  else if (value instanceof Integer && value.type === 'int64') span = value.value;
  else if (value instanceof Moment) span = nowOf(run).nanoseconds - value.nanoseconds;
  const size = span < 0n ? -span : span;
  const [name, unit] = units.find(([, length]) => size > length) ?? ['s', size + 1n];
  return `${String(size / unit)}${name}`;
}

function read(layout: string, text: string, run: Run): Moment {
  return parseMoment(fromBytes(layout), fromBytes(text), localZone(run));
}

/** What `call` answers; where it fails, what stands in for it. */
function orElse(call: () => Moment, otherwise: Moment): Moment {
  try {
    return call();
  } catch (error) {
    if (error instanceof RunFault) return otherwise;
    throw error;
  }
}

const dateInZone = takes(['string', 'any', 'string'], ([layout, value, zone], run) => inZone(layout, value, zone, run));
const dateModify = takes(['string', 'time'], ([by, moment]) => orElse(() => moved(by, moment), moment));
const mustDateModify = takes(['string', 'time'], ([by, moment]) => moved(by, moment));

/** Sprig's functions for times. */
export const dateFunctions: Readonly<Record<string, TemplateFunction>> = {
  now: takes([], (_none, run) => nowOf(run)),
  ago: takes(['any'], ([value], run) => ago(value, run)),
  date: takes(['string', 'any'], ([layout, value], run) => inZone(layout, value, 'Local', run)),
  dateInZone,
  date_in_zone: dateInZone,
  dateModify,
  date_modify: dateModify,
  mustDateModify,
  must_date_modify: mustDateModify,
  htmlDate: takes(['any'], ([value], run) => inZone('2006-01-02', value, 'Local', run)),
  htmlDateInZone: takes(['any', 'string'], ([value, zone], run) => inZone('2006-01-02', value, zone, run)),
  duration: takes(['any'], ([value]) => toBytes(writeDuration(secondsOf(value) * second))),
  durationRound: takes(['any'], ([value], run) => rounded(value, run)),
  toDate: takes(['string', 'string'], ([layout, text], run) => orElse(() => read(layout, text, run), Moment.zero())),
  mustToDate: takes(['string', 'string'], ([layout, text], run) => read(layout, text, run)),
  unixEpoch: takes(['time'], ([moment]) => String(moment.unix)),
};
