import { LruMap } from '../../../kit/lru-map.ts';
import { LeakyBucket } from '../../../kit/leaky-bucket.ts';

/** Maximum number of requests in a time window. */
interface Limit {
  readonly max: number;
  readonly perMs: number;
}

const minute = 60_000;

/** Limits of Supabase Auth for one address; `mail` counts all mails that it has requested. */
const requestLimits = {
  signup: { max: 30, perMs: 5 * minute },
  anonymous: { max: 30, perMs: 60 * minute },
  mail: { max: 30, perMs: 60 * minute },
  otp: { max: 30, perMs: 5 * minute },
  verify: { max: 30, perMs: 5 * minute },
  token: { max: 150, perMs: 5 * minute },
  factor: { max: 15, perMs: minute },
} as const satisfies Record<string, Limit>;
/** Limits of wrong secrets for one account, from all addresses: codes have only six digits. */
const failureLimits = {
  password: { max: 30, perMs: 5 * minute },
  /** Limit for one account and all clients behind one address, as behind a proxy. */
  passwordBehind: { max: 120, perMs: 5 * minute },
  code: { max: 10, perMs: 5 * minute },
  factor: { max: 10, perMs: 5 * minute },
} as const satisfies Record<string, Limit>;

/** Origin of a request: the most exact known location, and the network, which cannot be forged. */
export interface Origin {
  readonly location: string;
  readonly network: string;
}

/** Multiple of the limit that all clients of one network share, as behind a proxy. */
const networkMultiple = 4;

const maxBuckets = 20_000;

/** Limits in memory, as leaky buckets. */
export class RateLimits {
  readonly #buckets = new LruMap<string, LeakyBucket>(maxBuckets);
  /** Times of the last permitted uses. */
  readonly #turns = new LruMap<string, number>(maxBuckets);

  /** Counts a request. Returns false when the limit of its location or of its network is reached. */
  allows(kind: keyof typeof requestLimits, { location, network }: Origin, now: number): boolean {
    const limit = requestLimits[kind];
    const shared = { ...limit, max: limit.max * networkMultiple };
    const buckets = [this.#bucket(`${kind}\0${location}`, limit), this.#bucket(`${kind} of all\0${network}`, shared)];
    if (buckets.some((bucket) => bucket.getWaitMs(now) > 0)) return false;
    for (const bucket of buckets) bucket.add(now);
    return true;
  }

  /** Returns true when another secret of this account may be tried. */
  mayTry(kind: keyof typeof failureLimits, account: string, now: number): boolean {
    return this.#bucket(`wrong ${kind}\0${account}`, failureLimits[kind]).getWaitMs(now) === 0;
  }

  addFailure(kind: keyof typeof failureLimits, account: string, now: number): void {
    this.#bucket(`wrong ${kind}\0${account}`, failureLimits[kind]).add(now);
  }

  /** Removes an attempt that was counted in advance and did not fail. */
  removeFailure(kind: keyof typeof failureLimits, account: string): void {
    this.#buckets.get(`wrong ${kind}\0${account}`)?.remove();
  }

  clearFailures(kind: keyof typeof failureLimits, account: string): void {
    this.#buckets.delete(`wrong ${kind}\0${account}`);
  }

  /** Returns the seconds until the next permitted use; undefined when it is permitted now. */
  remainingSeconds(kind: string, everyMs: number, now: number): number | undefined {
    const until = (this.#turns.get(kind) ?? -Infinity) + everyMs;
    return until > now ? Math.floor((until - now) / 1000) : undefined;
  }

  /** Like {@link remainingSeconds}, and counts a permitted use. */
  takeTurn(kind: string, everyMs: number, now: number): number | undefined {
    const remaining = this.remainingSeconds(kind, everyMs, now);
    if (remaining === undefined) this.#turns.set(kind, now);
    return remaining;
  }

  #bucket(key: string, { max, perMs }: Limit): LeakyBucket {
    const bucket = this.#buckets.get(key) ?? new LeakyBucket({ capacity: max, drainMs: perMs / max });
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
