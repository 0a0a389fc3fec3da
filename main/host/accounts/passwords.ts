import * as m from '#messages/account-problems';
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { Problem } from '../../../services/contracts/problem.ts';
import { isBcryptHash, verifyBcrypt } from './bcrypt.ts';

/**
 * Each hash takes `128 * r * N` bytes: 128 MiB at the default cost. These limits bound concurrent and waiting hashes.
 */
const maxConcurrent = 2;
const maxWaiting = 64;
const hashBytes = 32;
/** Maximum memory of a stored hash, since an imported one must not exhaust the computer. */
const maxMemoryBytes = 256 * 1024 * 1024;

interface Parameters {
  /** log2 of N. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

interface StoredHash extends Parameters {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** Hashes passwords with scrypt outside of the event loop, a few at a time. */
export class Passwords {
  readonly #parameters: Parameters;
  readonly #dummyHash: StoredHash;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param cost log2 of scrypt's N */
  constructor(cost: number) {
    this.#parameters = { ln: cost, r: 8, p: 1 };
    this.#dummyHash = { ...this.#parameters, salt: randomBytes(16), hash: randomBytes(hashBytes) };
  }

  /**
   * Returns the hash in PHC notation: `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`.
   * @throws Problem `accounts.busy` (503).
   */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    const hash = await this.#derive(password, { ...this.#parameters, salt });
    const { ln, r, p } = this.#parameters;
    return `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
  }

  /**
   * Verifies a password. Takes the same time without a stored hash, so that existing names are not revealed. Foreign
   * hashes take their own time.
   * @throws Problem `accounts.busy` (503) when too many hashes are waiting.
   */
  async verify(password: string, stored: string | null): Promise<boolean> {
    if (stored !== null && isBcryptHash(stored)) return this.#inTurn(() => verifyBcrypt(password, stored));
    const expected = (stored === null ? undefined : parse(stored)) ?? this.#dummyHash;
    const actual = await this.#derive(password, expected);
    // The duration of a cheaper hash must not reveal that the name exists.
    const isCheaper = expected !== this.#dummyHash && expected.ln < this.#parameters.ln;
    if (isCheaper && !timingSafeEqual(actual, expected.hash)) await this.#derive(password, this.#dummyHash);
    return timingSafeEqual(actual, expected.hash) && expected !== this.#dummyHash;
  }

  /** Returns whether another program or a lower cost made the hash, so that the next sign-in replaces it. */
  isOutdated(stored: string): boolean {
    if (isBcryptHash(stored)) return true;
    const storedHash = parse(stored);
    if (storedHash === undefined) return false;
    const { ln, r, p } = this.#parameters;
    return storedHash.r * storedHash.p * 2 ** storedHash.ln < r * p * 2 ** ln;
  }

  async #derive(password: string, { ln, r, p, salt }: Parameters & { readonly salt: Buffer }): Promise<Buffer> {
    const options = { N: 2 ** ln, r, p, maxmem: 2 * maxMemoryBytes };
    const work = (): Promise<Buffer> =>
      new Promise((resolve, reject) => {
        // Other systems may compose the same characters differently.
        scrypt(password.normalize('NFC'), salt, hashBytes, options, (error, key) => {
          if (error === null) resolve(key);
          else reject(error);
        });
      });
    return this.#inTurn(work);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < maxConcurrent) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= maxWaiting) {
      throw new Problem('accounts.busy', 503, m.tooManySignIns, {
        headers: { 'Retry-After': '2' },
        retryAfterMs: 2000,
      });
    }
    // The slot is passed on, so the count is unchanged.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

/** Returns whether {@link Passwords.verify} supports a hash. */
export function isPasswordHash(text: string): boolean {
  return parse(text) !== undefined || isBcryptHash(text);
}

/** Returns whether another program made the hash, which is replaced once the password is known. */
export function isForeignHash(text: string): boolean {
  return isBcryptHash(text);
}

function parse(text: string): StoredHash | undefined {
  const match = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]{16,64})\$([\w-]{43})$/.exec(text);
  if (match === null) return undefined;
  const [, ln, r, p, salt = '', hash = ''] = match;
  const parameters = { ln: Number(ln), r: Number(r), p: Number(p) };
  const memory = 128 * parameters.r * 2 ** parameters.ln;
  if (parameters.ln < 1 || parameters.r < 1 || parameters.p < 1 || parameters.p > 16 || memory > maxMemoryBytes)
    return undefined;
  return { ...parameters, salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') };
}
