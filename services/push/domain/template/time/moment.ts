import { utc, type Zone } from './zone.ts';

const nanosecondsPerSecond = 1_000_000_000n;
const zeroTime = -62_135_596_800n * nanosecondsPerSecond;

/** Time value of Go: nanoseconds since 1970 and a zone. */
export class Moment {
  readonly nanoseconds: bigint;
  readonly zone: Zone;
  constructor(nanoseconds: bigint, zone: Zone) {
    this.nanoseconds = nanoseconds;
    this.zone = zone;
  }

  /** Returns Go's zero time: January 1 of the year 1. */
  static zero(): Moment {
    return new Moment(zeroTime, utc);
  }

  static fromSeconds(seconds: bigint, zone: Zone): Moment {
    return new Moment(seconds * nanosecondsPerSecond, zone);
  }

  get isZero(): boolean {
    return this.nanoseconds === zeroTime;
  }

  /** Seconds since 1970, rounded down. */
  get unix(): bigint {
    const rest = this.nanoseconds % nanosecondsPerSecond;
    return (this.nanoseconds - rest) / nanosecondsPerSecond - (rest < 0n ? 1n : 0n);
  }

  in(zone: Zone): Moment {
    return new Moment(this.nanoseconds, zone);
  }

  plus(nanoseconds: bigint): Moment {
    return new Moment(this.nanoseconds + nanoseconds, this.zone);
  }

  civil(): Civil {
    const { offset, abbreviation } = this.zone.getInfo(Number(this.unix));
    // Shifted by the offset, so that the UTC getters return local fields.
    const shifted = new Date((Number(this.unix) + offset) * 1000);
    const year = shifted.getUTCFullYear();
    const newYear = new Date(0).setUTCFullYear(year, 0, 1);
    return {
      year,
      month: shifted.getUTCMonth() + 1,
      day: shifted.getUTCDate(),
      hour: shifted.getUTCHours(),
      minute: shifted.getUTCMinutes(),
      second: shifted.getUTCSeconds(),
      nanosecond: Number(this.nanoseconds - this.unix * nanosecondsPerSecond),
      weekday: shifted.getUTCDay(),
      yearDay: Math.floor((shifted.getTime() - newYear) / 86_400_000) + 1,
      offset,
      abbreviation,
    };
  }
}

/** Calendar and clock fields of a time. */
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

/** Returns the time for local fields in a zone; overflowing fields (such as day 32) are carried. */
export function toMoment(
  fields: Pick<Civil, 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'nanosecond'>,
  zone: Zone,
): Moment {
  const date = new Date(0);
  date.setUTCFullYear(fields.year, fields.month - 1, fields.day);
  date.setUTCHours(fields.hour, fields.minute, fields.second);
  const asUtc = Math.floor(date.getTime() / 1000);
  // The offset depends on the time itself, so it is looked up with an estimate first.
  const estimatedOffset = zone.getInfo(asUtc).offset;
  const seconds = asUtc - zone.getInfo(asUtc - estimatedOffset).offset;
  return new Moment(BigInt(seconds) * nanosecondsPerSecond + BigInt(fields.nanosecond), zone);
}
