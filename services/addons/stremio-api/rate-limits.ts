import type { ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import { addHeaders } from '../../kit/http/respond.ts';

/** Requests per time window. Several players of one household can share an address behind a proxy. */
const limits = {
  user: { seconds: 5, maxRequests: 20 },
  search: { seconds: 10, maxRequests: 20 },
  format: { seconds: 5, maxRequests: 60 },
  manifest: { seconds: 5, maxRequests: 40 },
  stream: { seconds: 15, maxRequests: 90 },
  catalog: { seconds: 5, maxRequests: 90 },
  subtitles: { seconds: 5, maxRequests: 40 },
  meta: { seconds: 5, maxRequests: 60 },
  proxy: { seconds: 5, maxRequests: 200 },
} as const;
export type LimitedKind = keyof typeof limits;

interface Window {
  count: number;
  readonly endsAt: number;
}

const maxWindows = 10_000;

/** Limits the requests by kind, address and user. */
export class RateLimits {
  readonly #clock: Clock;
  readonly #isDisabled: () => boolean;
  readonly #windows = new Map<string, Window>();

  constructor(clock: Clock, isDisabled: () => boolean) {
    this.#clock = clock;
    this.#isDisabled = isDisabled;
  }

  /**
   * Counts a request.
   *
   * @throws Problem `addons.too_many` (429)
   */
  count(kind: LimitedKind, address: string, user: string, response: ServerResponse): void {
    if (this.#isDisabled()) return;
    const { seconds, maxRequests } = limits[kind];
    const now = this.#clock.now();
    const key = `${kind} ${address} ${user.slice(0, 64)}`;
    let window = this.#windows.get(key);
    if (window === undefined || window.endsAt <= now) {
      if (this.#windows.size >= maxWindows) this.#removeExpired(now);
      window = { count: 0, endsAt: now + seconds * 1000 };
      this.#windows.set(key, window);
    }
    window.count += 1;
    const reset = String(Math.max(1, Math.ceil((window.endsAt - now) / 1000)));
    addHeaders(response, {
      'RateLimit-Policy': `${String(maxRequests)};w=${String(seconds)}`,
      'RateLimit-Limit': maxRequests,
      'RateLimit-Remaining': Math.max(0, maxRequests - window.count),
      'RateLimit-Reset': reset,
    });
    if (window.count > maxRequests)
      throw new Problem('addons.too_many', 429, 'Too many requests. Wait a few seconds.', {
        headers: { 'Retry-After': reset },
      });
  }

  #removeExpired(now: number): void {
    for (const [key, { endsAt }] of this.#windows) if (endsAt <= now) this.#windows.delete(key);
    if (this.#windows.size >= maxWindows) this.#windows.clear();
  }
}
