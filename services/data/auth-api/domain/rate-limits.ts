import { LruMap } from '../../../kit/lru-map.ts';

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

interface Bucket {
  level: number;
  updatedAt: number;
}

/** In-memory leaky buckets, which fill with each request and drain evenly. */
export class RateLimits {
  readonly #buckets = new LruMap<string, Bucket>(maxBuckets);

  /** Counts a request. Returns false when the limit of its location or of its network is reached. */
  allows(kind: keyof typeof requestLimits, { location, network }: Origin, now: number): boolean {
    const limit = requestLimits[kind];
    const shared = { ...limit, max: limit.max * networkMultiple };
    const locationBucket = this.#bucket(`${kind}\0${location}`, limit, now);
    const networkBucket = this.#bucket(`${kind} of all\0${network}`, shared, now);
    if (locationBucket.level + 1 > limit.max || networkBucket.level + 1 > shared.max) return false;
    locationBucket.level += 1;
    networkBucket.level += 1;
    return true;
  }

  /** Returns true when another secret of this account may be tried. */
  mayTry(kind: keyof typeof failureLimits, account: string, now: number): boolean {
    return this.#bucket(`wrong ${kind}\0${account}`, failureLimits[kind], now).level + 1 <= failureLimits[kind].max;
  }

  addFailure(kind: keyof typeof failureLimits, account: string, now: number): void {
    this.#bucket(`wrong ${kind}\0${account}`, failureLimits[kind], now).level += 1;
  }

  /** Removes an attempt that was counted in advance and did not fail. */
  removeFailure(kind: keyof typeof failureLimits, account: string): void {
    const bucket = this.#buckets.get(`wrong ${kind}\0${account}`);
    if (bucket !== undefined) bucket.level = Math.max(0, bucket.level - 1);
  }

  clearFailures(kind: keyof typeof failureLimits, account: string): void {
    this.#buckets.delete(`wrong ${kind}\0${account}`);
  }

  /** Returns the seconds until the next permitted use; undefined when it is permitted now. */
  remainingSeconds(kind: string, everyMs: number, now: number): number | undefined {
    const until = (this.#buckets.get(`once\0${kind}`)?.updatedAt ?? -Infinity) + everyMs;
    return until > now ? Math.floor((until - now) / 1000) : undefined;
  }

  /** Like {@link remainingSeconds}, and counts a permitted use. */
  takeTurn(kind: string, everyMs: number, now: number): number | undefined {
    const remaining = this.remainingSeconds(kind, everyMs, now);
    if (remaining === undefined) this.#store(`once\0${kind}`, { level: 0, updatedAt: now });
    return remaining;
  }

  #bucket(key: string, { max, perMs }: Limit, now: number): Bucket {
    const before = this.#buckets.get(key);
    const drained =
      before === undefined ? 0 : Math.max(0, before.level - (Math.max(0, now - before.updatedAt) * max) / perMs);
    return this.#store(key, { level: drained, updatedAt: now });
  }

  #store(key: string, bucket: Bucket): Bucket {
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
