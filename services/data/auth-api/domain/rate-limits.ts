/** Maximum number of requests in a time window. */
interface Limit {
  readonly most: number;
  readonly perMs: number;
}

const minute = 60_000;

/** Limits of Supabase Auth for one address; `mail` counts all mails that it has requested. */
const limits = {
  signup: { most: 30, perMs: 5 * minute },
  anonymous: { most: 30, perMs: 60 * minute },
  mail: { most: 30, perMs: 60 * minute },
  otp: { most: 30, perMs: 5 * minute },
  verify: { most: 30, perMs: 5 * minute },
  token: { most: 150, perMs: 5 * minute },
  factor: { most: 15, perMs: minute },
} as const satisfies Record<string, Limit>;
/** Limits of wrong secrets for one account, from all addresses: codes have only six digits. */
const wrongs = {
  password: { most: 30, perMs: 5 * minute },
  /** Limit for one account and all clients behind one address, as behind a proxy. */
  passwordBehind: { most: 120, perMs: 5 * minute },
  code: { most: 10, perMs: 5 * minute },
  factor: { most: 10, perMs: 5 * minute },
} as const satisfies Record<string, Limit>;

/** Origin of a request: the most exact known location, and the network, which cannot be forged. */
export interface Origin {
  readonly place: string;
  readonly network: string;
}

/** Multiple of the limit that all clients of one network share, as behind a proxy. */
const placesOfNetwork = 4;

const remembered = 20_000;

interface Bucket {
  level: number;
  at: number;
}

/** In-memory leaky buckets, which fill with each request and drain evenly. */
export class RateLimits {
  readonly #buckets = new Map<string, Bucket>();

  /** Counts a request. Returns false when the limit of its location or of its network is reached. */
  allows(what: keyof typeof limits, { place, network }: Origin, now: number): boolean {
    const limit = limits[what];
    const shared = { ...limit, most: limit.most * placesOfNetwork };
    const own = this.#bucket(`${what}\0${place}`, limit, now);
    const all = this.#bucket(`${what} of all\0${network}`, shared, now);
    if (own.level + 1 > limit.most || all.level + 1 > shared.most) return false;
    own.level += 1;
    all.level += 1;
    return true;
  }

  /** Returns true when another secret of this account may be tried. */
  mayTry(what: keyof typeof wrongs, account: string, now: number): boolean {
    return this.#bucket(`wrong ${what}\0${account}`, wrongs[what], now).level + 1 <= wrongs[what].most;
  }

  failed(what: keyof typeof wrongs, account: string, now: number): void {
    this.#bucket(`wrong ${what}\0${account}`, wrongs[what], now).level += 1;
  }

  /** Removes an attempt that was counted in advance and did not fail. */
  forgive(what: keyof typeof wrongs, account: string): void {
    const bucket = this.#buckets.get(`wrong ${what}\0${account}`);
    if (bucket !== undefined) bucket.level = Math.max(0, bucket.level - 1);
  }

  succeeded(what: keyof typeof wrongs, account: string): void {
    this.#buckets.delete(`wrong ${what}\0${account}`);
  }

  /** Returns the seconds until the next permitted use; undefined when it is permitted now. */
  left(what: string, everyMs: number, now: number): number | undefined {
    const until = (this.#buckets.get(`once\0${what}`)?.at ?? -Infinity) + everyMs;
    return until > now ? Math.floor((until - now) / 1000) : undefined;
  }

  /** Like {@link remainingSeconds}, and counts a permitted use. */
  wait(what: string, everyMs: number, now: number): number | undefined {
    const left = this.left(what, everyMs, now);
    if (left === undefined) this.#keep(`once\0${what}`, { level: 0, at: now });
    return left;
  }

  #bucket(key: string, { most, perMs }: Limit, now: number): Bucket {
    const before = this.#buckets.get(key);
    const drained =
      before === undefined ? 0 : Math.max(0, before.level - (Math.max(0, now - before.at) * most) / perMs);
    return this.#keep(key, { level: drained, at: now });
  }

  #keep(key: string, bucket: Bucket): Bucket {
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > remembered) {
      for (const oldest of this.#buckets.keys()) {
        this.#buckets.delete(oldest);
        break;
      }
    }
    return bucket;
  }
}
