import * as m from '#messages/data-problems';
import { Worker } from 'node:worker_threads';
import { argon2, timingSafeEqual } from 'node:crypto';
import { Problem } from '../../../contracts/problem.ts';
import { getThreadFile } from '../../../kit/limited-thread.ts';
import { maxPasswordBytes } from '../domain/password-rules.ts';
import type { HashResult, HashRequest } from './hash-worker.ts';

/** bcrypt cost of Supabase Auth, so that users can be imported and exported. */
const cost = 10;
/** Maximum cost (log2 of the rounds) of imported hashes: higher ones would block the thread. */
const maxCost = 13;
const maxPending = 64;
/** Idle time after which the thread ends: it uses several MiB. */
const idleMs = 30_000;

const bcryptPattern = /^\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{53}$/;
const argonPattern =
  /^\$argon2(id|i|d)\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{16,172})$/;
/** Maximum memory of argon2, KiB. */
const maxMemoryKib = 256 * 1024;

/** Thread with its pending requests. A thread that ends late must not answer for the next one. */
interface Thread {
  readonly worker: Worker;
  readonly pending: Map<number, { resolve: (answer: string | boolean) => void; reject: (error: Error) => void }>;
}

type HashInput = HashRequest extends infer Each ? (Each extends { id: number } ? Omit<Each, 'id'> : never) : never;

/** Hashes passwords with bcrypt in a thread, one after another, so that sign-ins do not block other requests. */
export class Passwords implements AsyncDisposable {
  #thread: Thread | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #lastId = 0;
  #placeholderHash: Promise<string> | undefined;

  async hash(password: string): Promise<string> {
    return (await this.#request({ kind: 'hash', password, cost })) as string;
  }

  /**
   * Verifies a password. It takes equally long without a stored hash, so that timing does not reveal which accounts
   * exist.
   */
  async verify(password: string, stored: string | null): Promise<boolean> {
    const tooLong = Buffer.byteLength(password) > maxPasswordBytes;
    if (stored !== null && argonPattern.test(stored)) return verifyArgon(password, stored);
    const isReadable = stored !== null && isBcrypt(stored) && !tooLong;
    const hash = isReadable ? stored : await this.#getPlaceholderHash();
    const isMatch = (await this.#request({ kind: 'verify', password: tooLong ? '' : password, hash })) as boolean;
    return isMatch && isReadable;
  }

  #getPlaceholderHash(): Promise<string> {
    this.#placeholderHash ??= this.hash('nobody').catch((error: unknown) => {
      // A stored error would otherwise reveal unknown accounts permanently.
      this.#placeholderHash = undefined;
      throw error;
    });
    return this.#placeholderHash;
  }

  #request(input: HashInput): Promise<string | boolean> {
    if ((this.#thread?.pending.size ?? 0) >= maxPending) {
      throw new Problem('data.busy', 503, m.tooManySignIns, {
        headers: { 'Retry-After': '2' },
      });
    }
    const { worker, pending } = (this.#thread ??= this.#open());
    clearTimeout(this.#idleTimer);
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<string | boolean>((resolve, reject) => pending.set(id, { resolve, reject }));
    worker.postMessage({ id, ...input } satisfies HashRequest);
    return answer;
  }

  #open(): Thread {
    const pending: Thread['pending'] = new Map();
    const worker = new Worker(getThreadFile('hash-worker', import.meta.url), { execArgv: [] });
    worker.on('message', ({ id, result }: HashResult) => {
      pending.get(id)?.resolve(result);
      pending.delete(id);
      if (pending.size > 0) return;
      this.#idleTimer = setTimeout(() => void this.#close(), idleMs).unref();
    });
    const fail = (error: Error): void => {
      if (this.#thread?.worker === worker) this.#thread = undefined;
      const rejected = [...pending.values()];
      pending.clear();
      for (const { reject } of rejected) reject(error);
    };
    worker.on('error', fail);
    worker.on('exit', () => fail(new Error('the password hashing thread exited')));
    worker.unref();
    return { worker, pending };
  }

  async #close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.worker.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#idleTimer);
    await this.#close();
  }
}

function isBcrypt(hash: string): boolean {
  const rounds = Number(bcryptPattern.exec(hash)?.[1] ?? 0);
  return rounds >= 4 && rounds <= maxCost;
}

/** Returns true when an imported hash can be verified. */
export function isReadableHash(hash: string): boolean {
  const [, , memory, passes, lanes] = argonPattern.exec(hash) ?? [];
  if (memory === undefined) return isBcrypt(hash);
  const isSupported =
    Number(memory) <= maxMemoryKib && Number(passes) >= 1 && Number(passes) <= 16 && Number(lanes) >= 1;
  // The runtime of the packaged app lacks argon2; users whose password cannot be verified must not be created.
  return isSupported && typeof argon2 === 'function';
}

async function verifyArgon(password: string, stored: string): Promise<boolean> {
  if (!isReadableHash(stored)) return false;
  const [, kind = '', memory, passes, lanes, salt = '', hash = ''] = argonPattern.exec(stored) ?? [];
  const expected = Buffer.from(hash, 'base64');
  const options = {
    message: password,
    nonce: Buffer.from(salt, 'base64'),
    parallelism: Number(lanes),
    tagLength: expected.length,
    memory: Number(memory),
    passes: Number(passes),
  };
  return new Promise((resolve, reject) => {
    argon2(`argon2${kind}` as 'argon2id', options, (error, key) => {
      if (error === null) resolve(timingSafeEqual(key, expected));
      else reject(error);
    });
  });
}
