import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import { BoundedMap } from '../runtime/bounded-map.ts';
import { Brake, Level } from './brake.ts';

/** So many wrong secrets cost nothing: for one name from one source, from one source, for one name from everywhere. */
const bursts = { pair: 5, source: 30, name: 50 } as const;
/** A check that would have to wait longer is refused, ms: two get in line where the brake is hardest. */
const longestWait = 20_000;
/** So many secrets that turned out not to be the one just proven may be held against it while the brake is on, then one a minute. */
const mostMisses = 300;
/** Wrong tokens of one source, then one a minute; as the push peer has it. */
const mostHopeless = 30;
const remembered = 10_000;

/** From where and as whom someone tries to sign in. */
export interface Attempt {
  /** All that cannot be told apart from here counts as one. */
  readonly source: string;
  /** Undefined for a name that no account can have: those share one entry. */
  readonly name: string | undefined;
}

/** A check that may be made now; counts as wrong until it has ended. */
export interface Check extends Disposable {
  /** @throws Problem `accounts.too_many_attempts` (429) where the brake was on, so that programs leave off. */
  fail(): void;
  /** Forgives the wrong ones of this name from this source. */
  succeed(): void;
}

interface Pair {
  readonly brake: Brake;
  readonly misses: Level;
  /** The right secret came from there before. */
  known: boolean;
}

/**
 * Slows down guessing, in memory. Each name has a brake for each source. Names that never signed in from a source also share
 * a brake of that source and one of the name, wherever the guesses come from; who signed in there is not held up by either.
 */
export class SignInThrottle {
  readonly #clock: Clock;
  /** Whether somebody of that name has signed in from there, as far as is written down. */
  readonly #wasThere: (attempt: Attempt) => boolean;
  readonly #pairs = new BoundedMap<string, Pair>(remembered);
  readonly #sources = new BoundedMap<string, Brake>(remembered);
  readonly #names = new BoundedMap<string, Brake>(remembered);
  readonly #hopeless = new BoundedMap<string, Level>(remembered);

  constructor(clock: Clock, wasThere: (attempt: Attempt) => boolean) {
    this.#clock = clock;
    this.#wasThere = wasThere;
  }

  /** How many sources, names and pairs are remembered; it has an upper limit. */
  get size(): number {
    return this.#pairs.size + this.#sources.size + this.#names.size + this.#hopeless.size;
  }

  /**
   * Whether a secret may be compared with one that was just proven, past the brake. Without a limit that would be a way to
   * guess as fast as one likes.
   */
  trusts(attempt: Attempt): boolean {
    const pair = this.#pairs.get(keyOf(attempt));
    return pair === undefined || pair.misses.at(this.#clock.now()) < mostMisses;
  }

  /**
   * Waits until a secret may be checked.
   * @throws Problem `accounts.too_many_attempts` (429) where too many wait already.
   */
  async begin(attempt: Attempt): Promise<Check> {
    const { pair, brakes, keep } = this.#brakesOf(attempt);
    const now = this.#clock.now();
    const wait = Math.max(...brakes.map((brake) => brake.wait(now)));
    const slowed = brakes.some((brake) => brake.isOn(now));
    if (slowed) pair.misses.raise(now, mostMisses);
    if (wait > longestWait) throw tooManyAttempts(wait - longestWait);
    keep();
    for (const brake of brakes) brake.begin(now);
    let over = false;
    const end = (outcome: 'right' | 'wrong' | 'unknown'): void => {
      if (!over) for (const brake of brakes) brake.end(this.#clock.now(), outcome);
      over = true;
    };
    const check: Check = {
      fail: () => {
        end('wrong');
        if (slowed) throw tooManyAttempts(Math.max(...brakes.map((brake) => brake.wait(this.#clock.now()))));
      },
      succeed() {
        end('right');
        pair.known = true;
        pair.brake.forgive();
      },
      [Symbol.dispose]: () => end('unknown'),
    };
    if (wait > 0) await new Promise<void>((resolve) => void this.#clock.after(wait, resolve));
    return check;
  }

  /**
   * Counts a wrong token, and what cannot be right at all, apart from passwords: nothing can be guessed that way, so a client
   * with an old token must not slow down the people behind the same address.
   * @throws Problem `accounts.too_many_attempts` (429)
   */
  failHopeless(source: string): void {
    const now = this.#clock.now();
    const level = this.#hopeless.get(source) ?? new Level();
    const wait = Math.ceil((level.at(now) + 1 - mostHopeless) * 60_000);
    if (wait > 0) throw tooManyAttempts(wait);
    level.raise(now, mostHopeless);
    this.#hopeless.set(source, level);
  }

  /** What is made here is kept only once a check begins: else names that are refused would push out those that count. */
  #brakesOf(attempt: Attempt): { readonly pair: Pair; readonly brakes: readonly Brake[]; readonly keep: () => void } {
    const key = keyOf(attempt);
    const name = attempt.name ?? '';
    const known = this.#pairs.get(key);
    const pair = known ?? { brake: new Brake(bursts.pair), misses: new Level(), known: this.#wasThere(attempt) };
    if (pair.known) return { pair, brakes: [pair.brake], keep: () => this.#pairs.set(key, pair) };
    const ofSource = this.#sources.get(attempt.source) ?? new Brake(bursts.source);
    const ofName = this.#names.get(name) ?? new Brake(bursts.name);
    const keep = (): void => {
      this.#pairs.set(key, pair);
      this.#sources.set(attempt.source, ofSource);
      this.#names.set(name, ofName);
    };
    return { pair, brakes: [pair.brake, ofSource, ofName], keep };
  }
}

/** 429 with Retry-After. */
export function tooManyAttempts(waitMs: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const when = seconds === 1 ? 'a second' : `${seconds} seconds`;
  return new Problem('accounts.too_many_attempts', 429, `Too many failed sign-ins. Try again in ${when}.`, {
    headers: { 'Retry-After': String(seconds) },
    retryAfterMs: seconds * 1000,
  });
}

function keyOf({ source, name }: Attempt): string {
  return `${source}\0${name ?? ''}`;
}
