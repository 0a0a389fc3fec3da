import { utc, type Zone } from './zone.ts';

const second = 1_000_000_000n;
const zero = -62_135_596_800n * second;

/** A time of Go: nanoseconds since 1970, and the zone it is told in. */
export class Moment {
  readonly nanoseconds: bigint;
  readonly zone: Zone;
  constructor(nanoseconds: bigint, zone: Zone) {
    this.nanoseconds = nanoseconds;
    this.zone = zone;
  }

  /** What a time is when none could be read: the first of January of the year 1. */
  static zero(): Moment {
    return new Moment(zero, utc);
  }

  static ofSeconds(seconds: bigint, zone: Zone): Moment {
    return new Moment(seconds * second, zone);
  }

  get isZero(): boolean {
    return this.nanoseconds === zero;
  }

  /** Whole seconds since 1970, rounded down. */
  get unix(): bigint {
    const rest = this.nanoseconds % second;
    return (this.nanoseconds - rest) / second - (rest < 0n ? 1n : 0n);
  }

  in(zone: Zone): Moment {
    return new Moment(this.nanoseconds, zone);
  }

  plus(nanoseconds: bigint): Moment {
    return new Moment(this.nanoseconds + nanoseconds, this.zone);
  }

  civil(): Civil {
    const { offset, abbreviation } = this.zone.at(Number(this.unix));
    // As if the zone's clock were UTC's.
    const shown = new Date((Number(this.unix) + offset) * 1000);
    const year = shown.getUTCFullYear();
    const newYear = new Date(0).setUTCFullYear(year, 0, 1);
    return {
      year,
      month: shown.getUTCMonth() + 1,
      day: shown.getUTCDate(),
      hour: shown.getUTCHours(),
      minute: shown.getUTCMinutes(),
      second: shown.getUTCSeconds(),
      nanosecond: Number(this.nanoseconds - this.unix * second),
      weekday: shown.getUTCDay(),
      yearDay: Math.floor((shown.getTime() - newYear) / 86_400_000) + 1,
      offset,
      abbreviation,
    };
  }
}

/** A time as a clock and a calendar show it. */
export interface Civil {
  readonly year: number;
  /** 1 for January. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanosecond: number;
  /** 0 for Sunday. */
  readonly weekday: number;
  readonly yearDay: number;
  readonly offset: number;
  readonly abbreviation: string;
}

/** The time that a clock in the zone shows so; what goes over (the 32nd of a month) is carried on. */
export function momentOf(
  shown: Pick<Civil, 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'nanosecond'>,
  zone: Zone,
): Moment {
  const date = new Date(0);
  date.setUTCFullYear(shown.year, shown.month - 1, shown.day);
  date.setUTCHours(shown.hour, shown.minute, shown.second);
  const asUtc = Math.floor(date.getTime() / 1000);
  // The offset of that time is looked up by a guess first, since only the time itself tells it.
  const guess = zone.at(asUtc).offset;
  const seconds = asUtc - zone.at(asUtc - guess).offset;
  return new Moment(BigInt(seconds) * second + BigInt(shown.nanosecond), zone);
}
