import type { Clock } from '../../contracts/service.ts';

/** So many wrong passwords for a login from one place, and one more each minute. */
const burst = 10;
const minute = 60_000;
/** Places that are remembered; the least recent one gives way. */
const mostPlaces = 10_000;

/** Counts wrong passwords for logins, so that nobody tries them all. Kept in memory. */
export class SignInThrottle {
  readonly #clock: Clock;
  readonly #levels = new Map<string, { readonly level: number; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True while no further guess is listened to. */
  tooMany(login: string, address: string): boolean {
    return this.#levelOf(placeOf(login, address)) > burst - 1;
  }

  /** Notes a wrong one. */
  note(login: string, address: string): void {
    const place = placeOf(login, address);
    const level = this.#levelOf(place) + 1;
    this.#levels.delete(place);
    this.#levels.set(place, { level, at: this.#clock.now() });
    const [oldest] = this.#levels.keys();
    if (this.#levels.size > mostPlaces && oldest !== undefined) this.#levels.delete(oldest);
  }

  #levelOf(place: string): number {
    const known = this.#levels.get(place);
    if (known === undefined) return 0;
    return Math.max(0, known.level - Math.max(0, this.#clock.now() - known.at) / minute);
  }
}

/** Of an IPv6 address the network, all of which one machine may have. */
function placeOf(login: string, address: string): string {
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const groups = head.split(':');
  const isV6 = address.includes(':') && !/^::ffff:\d+\./i.test(address);
  const filled = tail === undefined ? groups : [...groups, ...Array<string>(4).fill('0')];
  return `${isV6 ? filled.slice(0, 4).join(':') : address} ${login}`;
}
