import { isIPv6 } from 'node:net';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import { BoundedMap } from './bounded-map.ts';

/** As the push peer has it: an address may fail this often at once, and once more each minute. */
const burst = 30;
const minute = 60_000;
/** So many wrong passwords for one account from one address, and it has to pause. */
const patience = 5;
const shortestPause = 30_000;
const longestPause = 15 * minute;
/** Wrong passwords are forgiven after this time without another. */
const memory = 60 * minute;
const remembered = 10_000;

/** Fills by one a failure and drains by one a minute. `pending` attempts count as failures until they end. */
interface Bucket {
  level: number;
  at: number;
  pending: number;
}

interface Wrong {
  count: number;
  at: number;
  pausedUntil: number;
  pending: number;
}

/** Where and as whom someone tries to sign in. */
export interface Attempt {
  readonly address: string;
  /** Undefined for a name that no account can have: those share one entry. */
  readonly name: string | undefined;
}

/** Failed sign-ins by address and by address and account, in memory. */
export class SignInThrottle {
  readonly #clock: Clock;
  readonly #passwords = new BoundedMap<string, Bucket>(remembered);
  readonly #tokens = new BoundedMap<string, Bucket>(remembered);
  readonly #wrong = new BoundedMap<string, Wrong>(remembered);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many addresses and pairs are remembered; it has an upper limit. */
  get size(): number {
    return this.#passwords.size + this.#tokens.size + this.#wrong.size;
  }

  /** @throws Problem `accounts.too_many_attempts` (429) while this address, or this account from it, is blocked. */
  check(attempt: Attempt): void {
    const now = this.#clock.now();
    const wait = Math.max(
      waitOfBucket(this.#passwords.get(network(attempt.address)), now),
      waitOfWrong(this.#wrong.get(pair(attempt)), now),
    );
    if (wait > 0) throw tooManyAttempts(wait);
  }

  /**
   * Counts an attempt that is under way, so that many at once get no further than many in turn.
   * @throws Problem `accounts.too_many_attempts` (429)
   */
  begin(attempt: Attempt): Disposable {
    const now = this.#clock.now();
    const bucket = bucketIn(this.#passwords, network(attempt.address), now);
    const wrong = this.#wrongOf(attempt, now);
    const full = levelOf(bucket, now) + bucket.pending + 1 > burst;
    if (full || wrong.pending >= Math.max(1, patience - wrong.count)) throw tooManyAttempts(1000);
    bucket.pending += 1;
    wrong.pending += 1;
    return {
      [Symbol.dispose]: () => {
        bucket.pending -= 1;
        wrong.pending -= 1;
      },
    };
  }

  fail(attempt: Attempt): void {
    const now = this.#clock.now();
    fill(this.#passwords, network(attempt.address), now);
    const wrong = this.#wrongOf(attempt, now);
    if (now - wrong.at > memory) wrong.count = 0;
    wrong.count += 1;
    wrong.at = now;
    if (wrong.count < patience) return;
    // 2 ** 10 is past the longest pause; a larger exponent only risks infinity.
    const pause = Math.min(longestPause, shortestPause * 2 ** Math.min(10, wrong.count - patience));
    wrong.pausedUntil = now + pause;
  }

  /**
   * A right password forgives the wrong ones for that account from that address. The address itself is not forgiven:
   * else one's own account would buy guesses at others.
   */
  succeed(attempt: Attempt): void {
    const wrong = this.#wrong.get(pair(attempt));
    if (wrong === undefined) return;
    wrong.count = 0;
    wrong.pausedUntil = 0;
  }

  /**
   * Counts a wrong token, apart from passwords: no one can guess a token, so a client with an old one must not lock out
   * the people behind the same address.
   * @throws Problem `accounts.too_many_attempts` (429)
   */
  failToken(address: string): void {
    const now = this.#clock.now();
    const key = network(address);
    const wait = waitOfBucket(this.#tokens.get(key), now);
    if (wait > 0) throw tooManyAttempts(wait);
    fill(this.#tokens, key, now);
  }

  #wrongOf(attempt: Attempt, now: number): Wrong {
    const key = pair(attempt);
    let wrong = this.#wrong.get(key);
    if (wrong === undefined) {
      wrong = { count: 0, at: now, pausedUntil: 0, pending: 0 };
      this.#wrong.set(key, wrong);
    }
    return wrong;
  }
}

/** 429 with Retry-After. */
export function tooManyAttempts(waitMs: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new Problem('accounts.too_many_attempts', 429, `Too many failed sign-ins. Try again in ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
    retryAfterMs: seconds * 1000,
  });
}

function bucketIn(buckets: BoundedMap<string, Bucket>, key: string, now: number): Bucket {
  let bucket = buckets.get(key);
  if (bucket === undefined) {
    bucket = { level: 0, at: now, pending: 0 };
    buckets.set(key, bucket);
  }
  return bucket;
}

function fill(buckets: BoundedMap<string, Bucket>, key: string, now: number): void {
  const bucket = bucketIn(buckets, key, now);
  bucket.level = Math.min(burst, levelOf(bucket, now) + 1);
  bucket.at = now;
}

function levelOf(bucket: Bucket, now: number): number {
  return Math.max(0, bucket.level - Math.max(0, now - bucket.at) / minute);
}

function waitOfBucket(bucket: Bucket | undefined, now: number): number {
  if (bucket === undefined) return 0;
  const level = levelOf(bucket, now);
  return level + 1 > burst ? Math.ceil((level + 1 - burst) * minute) : 0;
}

function waitOfWrong(wrong: Wrong | undefined, now: number): number {
  if (wrong === undefined) return 0;
  // A clock that was set back must not make the pause longer than it can be.
  return Math.min(longestPause, Math.max(0, wrong.pausedUntil - now));
}

function pair(attempt: Attempt): string {
  return `${network(attempt.address)} ${attempt.name ?? ''}`;
}

/** A household's whole /64 counts as one, since anyone there picks addresses freely. */
function network(address: string): string {
  const plain = address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
  if (!isIPv6(plain)) return plain.slice(0, 64);
  const [head = '', tail] = plain.split('%')[0]?.split('::') ?? [];
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(gap).fill('0'), ...back].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
