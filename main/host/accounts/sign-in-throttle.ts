import * as m from '#messages/account-problems';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import { LruMap } from '../../../services/kit/lru-map.ts';
import { Throttle, drainMs } from './throttle.ts';
import { LeakyBucket } from '../../../services/kit/leaky-bucket.ts';

/** Number of free wrong secrets: for one name from one source, from one source, for one name from all sources. */
const bursts = { pair: 5, source: 30, name: 50 } as const;
/** Maximum wait of a check in ms; two fit at the longest interval. */
const maxWaitMs = 20_000;
/** Number of comparisons with a recently verified secret that may fail while throttled, then one per minute. */
const maxMisses = 300;
/** Free wrong tokens per source, then one per minute, as in ntfy. */
const maxInvalidTokens = 30;
const maxEntries = 10_000;

/** Source and name of a sign-in attempt. */
export interface Attempt {
  /** Clients that cannot be distinguished share a source. */
  readonly source: string;
  /** Undefined for a name that no account can have: those share one entry. */
  readonly name: string | undefined;
}

/** Failed attempt as other hosts count it. */
export interface FailedAttempt extends Attempt {
  /** `token`: an impossible secret, which is counted separately. */
  readonly kind: 'secret' | 'token';
}

/** Check that may be made now; counts as wrong until it has ended. */
export interface Check extends Disposable {
  /** @throws Problem `accounts.too_many_attempts` (429) while throttled, so that programs stop retrying. */
  fail(): void;
  /** Resets the wrong attempts of this name from this source. */
  succeed(): void;
}

interface Pair {
  readonly throttle: Throttle;
  readonly misses: LeakyBucket;
  /** The right secret was used from there before. */
  isExistingAccount: boolean;
}

/**
 * Throttles guesses, in memory. Each name has a throttle per source. Names that never signed in from a source also
 * share a throttle of that source and one of the name across all sources; accounts that signed in from there are
 * affected by neither.
 */
export class SignInThrottle {
  readonly #clock: Clock;
  /** Returns whether the account has signed in from there, according to the stored sessions and tokens. */
  readonly #wasThere: (attempt: Attempt) => boolean;
  readonly #onFailed: (attempt: FailedAttempt) => void;
  readonly #pairs = new LruMap<string, Pair>(maxEntries);
  readonly #sources = new LruMap<string, Throttle>(maxEntries);
  readonly #names = new LruMap<string, Throttle>(maxEntries);
  readonly #rejectedNames = new LruMap<string, LeakyBucket>(maxEntries);

  /** `onFailed`: called for each failed attempt, which other hosts then count. */
  constructor(
    clock: Clock,
    wasThere: (attempt: Attempt) => boolean,
    onFailed: (attempt: FailedAttempt) => void = () => undefined,
  ) {
    this.#clock = clock;
    this.#wasThere = wasThere;
    this.#onFailed = onFailed;
  }

  /** Number of stored sources, names and pairs, which is limited. */
  get size(): number {
    return this.#pairs.size + this.#sources.size + this.#names.size + this.#rejectedNames.size;
  }

  /**
   * Returns whether a secret may be compared with a recently verified one, bypassing the throttle. Limited, since it
   * would otherwise allow unthrottled guesses.
   */
  trusts(attempt: Attempt): boolean {
    const pair = this.#pairs.get(toKey(attempt));
    return pair === undefined || pair.misses.getLevel(this.#clock.now()) < maxMisses;
  }

  /**
   * Waits until a secret may be checked.
   * @throws Problem `accounts.too_many_attempts` (429) when too many are waiting.
   */
  async begin(attempt: Attempt): Promise<Check> {
    const { pair, throttles: throttles, keep } = this.#getThrottles(attempt);
    const now = this.#clock.now();
    const wait = Math.max(...throttles.map((throttle) => throttle.wait(now)));
    const isThrottled = throttles.some((throttle) => throttle.isOn(now));
    if (isThrottled) pair.misses.add(now);
    if (wait > maxWaitMs) throw buildTooManyAttemptsProblem(wait - maxWaitMs);
    keep();
    for (const item of throttles) item.begin(now);
    let isLimited = false;
    const end = (outcome: 'right' | 'wrong' | 'unknown'): void => {
      if (!isLimited) for (const each of throttles) each.end(this.#clock.now(), outcome);
      isLimited = true;
    };
    const check: Check = {
      fail: () => {
        end('wrong');
        this.#onFailed({ kind: 'secret', ...attempt });
        if (isThrottled)
          throw buildTooManyAttemptsProblem(Math.max(...throttles.map((each) => each.wait(this.#clock.now()))));
      },
      succeed() {
        end('right');
        pair.isExistingAccount = true;
        pair.throttle.reset();
      },
      [Symbol.dispose]: () => end('unknown'),
    };
    if (wait > 0) await new Promise<void>((resolve) => void this.#clock.after(wait, resolve));
    return check;
  }

  /**
   * Counts wrong tokens and impossible secrets separately from passwords: they cannot guess anything, so a client
   * with an old token must not slow down other users of its address.
   * @throws Problem `accounts.too_many_attempts` (429)
   */
  failInvalidToken(source: string): void {
    const wait = this.#addInvalidToken(source);
    if (wait > 0) throw buildTooManyAttemptsProblem(wait);
    this.#onFailed({ kind: 'token', source, name: undefined });
  }

  /** Counts a failed attempt at another host, so that guesses get no further with several hosts. */
  countElsewhere({ kind, ...attempt }: FailedAttempt): void {
    if (kind === 'token') {
      this.#addInvalidToken(attempt.source);
      return;
    }
    const { throttles, keep } = this.#getThrottles(attempt);
    keep();
    for (const throttle of throttles) throttle.addWrong(this.#clock.now());
  }

  /** Returns the wait in ms when too many were counted. */
  #addInvalidToken(source: string): number {
    const bucket = this.#rejectedNames.get(source) ?? new LeakyBucket({ capacity: maxInvalidTokens, drainMs });
    const wait = bucket.tryAdd(this.#clock.now());
    if (wait === 0) this.#rejectedNames.set(source, bucket);
    return wait;
  }

  /** New entries are stored only once a check begins: otherwise refused names would evict relevant ones. */
  #getThrottles(attempt: Attempt): {
    readonly pair: Pair;
    readonly throttles: readonly Throttle[];
    readonly keep: () => void;
  } {
    const key = toKey(attempt);
    const name = attempt.name ?? '';
    const existing = this.#pairs.get(key);
    const pair = existing ?? {
      throttle: new Throttle(bursts.pair),
      misses: new LeakyBucket({ capacity: maxMisses, drainMs }),
      isExistingAccount: this.#wasThere(attempt),
    };
    if (pair.isExistingAccount) return { pair, throttles: [pair.throttle], keep: () => this.#pairs.set(key, pair) };
    const ofSource = this.#sources.get(attempt.source) ?? new Throttle(bursts.source);
    const ofName = this.#names.get(name) ?? new Throttle(bursts.name);
    const keep = (): void => {
      this.#pairs.set(key, pair);
      this.#sources.set(attempt.source, ofSource);
      this.#names.set(name, ofName);
    };
    return { pair, throttles: [pair.throttle, ofSource, ofName], keep };
  }
}

/** Builds the 429 with Retry-After. */
export function buildTooManyAttemptsProblem(waitMs: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new Problem('accounts.too_many_attempts', 429, m.tooManyAttempts({ seconds }), {
    headers: { 'Retry-After': String(seconds) },
    retryAfterMs: seconds * 1000,
  });
}

function toKey({ source, name }: Attempt): string {
  return `${source}\0${name ?? ''}`;
}
