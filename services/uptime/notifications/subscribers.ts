import * as m from '#messages/uptime-problems';
import { timingSafeEqual } from 'node:crypto';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from '../store/tables.ts';
import type { StoredPage } from '../store/status-pages.ts';
import { RateLimiter } from './rate-limiter.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { SerialQueue } from '../../kit/serial-queue.ts';

const hourMs = 3_600_000;
const purpose = 'uptime.subscriber';
/** Time after which unconfirmed subscriptions are removed. */
const confirmationTimeoutMs = 48 * hourMs;
const maxSubscribersPerPage = 5000;

const Sealed = z.object({ address: z.string(), token: z.string(), base: z.string().default('') });
const Address = z
  .email()
  .max(320)
  .transform((address) => address.replace(/@.*/, (host) => host.toLowerCase()));

/** Mail subscriber of a page. */
export interface Subscriber {
  readonly id: number;
  readonly page: number;
  readonly address: string;
  readonly token: string;
  /** Base URL at which the visitor subscribed; empty when unknown. */
  readonly base: string;
  readonly confirmed: boolean;
  readonly createdAt: number;
}

/** Origin of a subscription request. */
interface SubscriptionOrigin {
  readonly remoteAddress: string;
  readonly base: string;
}

/** Stores the mail subscribers of status pages; addresses are sealed. */
export class Subscribers {
  readonly #context: Pick<Context, 'db' | 'commit' | 'clock' | 'random' | 'vault' | 'log'>;
  readonly #subscribers = new Map<number, Subscriber>();
  /** Rate limits per client address, per mailbox and in total for mail that anonymous visitors cause. */
  readonly #addressLimiter: RateLimiter;
  readonly #mailboxLimiter: RateLimiter;
  readonly #totalLimiter: RateLimiter;
  readonly #changes = new SerialQueue();

  constructor(context: Pick<Context, 'db' | 'commit' | 'clock' | 'random' | 'vault' | 'log'>) {
    this.#context = context;
    this.#addressLimiter = new RateLimiter(context.clock, 5, hourMs);
    this.#mailboxLimiter = new RateLimiter(context.clock, 1, hourMs);
    this.#totalLimiter = new RateLimiter(context.clock, 100, hourMs);
  }

  async start(): Promise<void> {
    const { vault, log } = this.#context;
    const rows = await this.#db.selectFrom('page_subscribers').selectAll().orderBy('id').execute();
    this.#subscribers.clear();
    for (const row of rows) {
      try {
        const { address, token, base } = Sealed.parse(parseJson(vault.open(row.sealed, purpose)));
        this.#subscribers.set(row.id, {
          id: row.id,
          page: row.page_id,
          address,
          token,
          base,
          confirmed: row.confirmed === 1,
          createdAt: row.created_at,
        });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        log.warn('stored subscriber could not be read', { id: row.id, error });
      }
    }
  }

  listForPage(page: number): readonly Subscriber[] {
    return [...this.#subscribers.values()].filter((one) => one.page === page);
  }

  /** Lists the confirmed subscribers of a page. */
  listConfirmed(page: number): readonly Subscriber[] {
    return this.listForPage(page).filter(({ confirmed }) => confirmed);
  }

  find(id: number): Subscriber | undefined {
    return this.#subscribers.get(id);
  }

  /**
   * Returns the subscriber to confirm; undefined when no mail is to be sent. The response to the visitor must not
   * reveal the difference.
   * @throws Problem `uptime.invalid` (400), `uptime.too_many` (429)
   */
  subscribe(
    page: StoredPage,
    input: unknown,
    { remoteAddress, base }: SubscriptionOrigin,
  ): Promise<Subscriber | undefined> {
    const parsed = Address.safeParse(typeof input === 'string' ? input.trim() : input);
    if (!parsed.success) throw new Problem('uptime.invalid', 400, m.mailAddressInvalid());
    if (!this.#addressLimiter.tryTake(remoteAddress) || !this.#totalLimiter.tryTake('')) throw tooMany();
    return this.#changes.run(async () => {
      const address = parsed.data;
      const pageSubscribers = this.listForPage(page.id);
      const existing = pageSubscribers.find((one) => one.address === address);
      if (existing?.confirmed === true || !this.#mailboxLimiter.tryTake(address)) return undefined;
      if (existing !== undefined) return existing;
      if (pageSubscribers.length >= maxSubscribersPerPage) throw tooMany();
      const { clock, commit, random, vault } = this.#context;
      const token = random.text(32);
      const createdAt = clock.now();
      const row = {
        page_id: page.id,
        sealed: vault.seal(JSON.stringify({ address, token, base }), purpose),
        confirmed: 0 as const,
        created_at: createdAt,
      };
      const { id } = await commit(async (transaction: Kysely<Tables>) =>
        transaction.insertInto('page_subscribers').values(row).returning('id').executeTakeFirstOrThrow(),
      );
      const subscriber = { id, page: page.id, address, token, base, confirmed: false, createdAt };
      this.#subscribers.set(id, subscriber);
      return subscriber;
    });
  }

  /**
   * Returns the subscriber of a link in a mail.
   * @throws Problem `uptime.unknown_subscriber` (404)
   */
  getByLink(page: StoredPage | undefined, link: unknown): Subscriber {
    const [, id = '', token = ''] = /^(\d{1,10})\.([A-Za-z0-9]{32})$/.exec(typeof link === 'string' ? link : '') ?? [];
    const subscriber = this.#subscribers.get(Number(id));
    const isOfPage = subscriber !== undefined && subscriber.page === page?.id;
    if (isOfPage && timingSafeEqual(Buffer.from(subscriber.token), Buffer.from(token))) return subscriber;
    throw new Problem('uptime.unknown_subscriber', 404, m.linkInvalid());
  }

  async confirm({ id }: Subscriber): Promise<void> {
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction.updateTable('page_subscribers').set({ confirmed: 1 }).where('id', '=', id).execute();
    });
    const existing = this.#subscribers.get(id);
    if (existing !== undefined) this.#subscribers.set(id, { ...existing, confirmed: true });
  }

  /** Removes subscribers and their data. */
  async remove(ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      for (let offset = 0; offset < ids.length; offset += 500)
        await transaction
          .deleteFrom('page_subscribers')
          .where('id', 'in', ids.slice(offset, offset + 500))
          .execute();
    });
    for (const id of ids) this.#subscribers.delete(id);
  }

  /** Removes unconfirmed subscribers after the timeout, and subscribers of deleted pages. */
  async removeOld(pages: ReadonlySet<number>): Promise<void> {
    const before = this.#context.clock.now() - confirmationTimeoutMs;
    const old = [...this.#subscribers.values()].filter(
      (one) => !pages.has(one.page) || (!one.confirmed && one.createdAt < before),
    );
    await this.remove(old.map(({ id }) => id));
  }

  get #db(): Kysely<Tables> {
    return this.#context.db;
  }
}

function tooMany(): Problem {
  return new Problem('uptime.too_many', 429, m.tooManySubscriptions());
}
