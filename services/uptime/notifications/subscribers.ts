import { timingSafeEqual } from 'node:crypto';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from '../store/tables.ts';
import type { KnownPage } from '../store/status-pages.ts';
import { Allowance } from './rate-limiter.ts';

const hourMs = 3_600_000;
const purpose = 'uptime.subscriber';
/** Time after which unconfirmed subscriptions are removed. */
const patienceMs = 48 * hourMs;
const mostOfPage = 5000;

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
interface Asked {
  readonly remoteAddress: string;
  readonly base: string;
}

/** Stores the mail subscribers of status pages; addresses are sealed. */
export class Subscribers {
  readonly #context: Pick<Context, 'db' | 'commit' | 'clock' | 'random' | 'vault' | 'log'>;
  readonly #all = new Map<number, Subscriber>();
  /** Rate limits per client address, per mailbox and in total for mail that anonymous visitors cause. */
  readonly #bySender: Allowance;
  readonly #byMailbox: Allowance;
  readonly #together: Allowance;
  #latest: Promise<unknown> = Promise.resolve();

  constructor(context: Pick<Context, 'db' | 'commit' | 'clock' | 'random' | 'vault' | 'log'>) {
    this.#context = context;
    this.#bySender = new Allowance(context.clock, 5, hourMs);
    this.#byMailbox = new Allowance(context.clock, 1, hourMs);
    this.#together = new Allowance(context.clock, 100, hourMs);
  }

  async start(): Promise<void> {
    const { vault, log } = this.#context;
    for (const row of await this.#db.selectFrom('page_subscribers').selectAll().orderBy('id').execute()) {
      try {
        const { address, token, base } = Sealed.parse(JSON.parse(vault.open(row.sealed, purpose)));
        this.#all.set(row.id, {
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
        log.warn('a subscriber of a status page cannot be read', { id: row.id, error });
      }
    }
  }

  of(page: number): readonly Subscriber[] {
    return [...this.#all.values()].filter((one) => one.page === page);
  }

  /** Lists the confirmed subscribers of a page. */
  confirmedOf(page: number): readonly Subscriber[] {
    return this.of(page).filter(({ confirmed }) => confirmed);
  }

  find(id: number): Subscriber | undefined {
    return this.#all.get(id);
  }

  /**
   * Returns the subscriber to confirm; undefined when no mail is to be sent. The response to the visitor must not
   * reveal the difference.
   * @throws Problem `uptime.invalid` (400), `uptime.too_many` (429)
   */
  subscribe(page: KnownPage, given: unknown, { remoteAddress, base }: Asked): Promise<Subscriber | undefined> {
    const parsed = Address.safeParse(typeof given === 'string' ? given.trim() : given);
    if (!parsed.success) throw new Problem('uptime.invalid', 400, 'This is no mail address.');
    if (!this.#bySender.take(remoteAddress) || !this.#together.take('')) throw tooMany();
    return this.#inTurn(async () => {
      const address = parsed.data;
      const own = this.of(page.id);
      const known = own.find((one) => one.address === address);
      if (known?.confirmed === true || !this.#byMailbox.take(address)) return undefined;
      if (known !== undefined) return known;
      if (own.length >= mostOfPage) throw tooMany();
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
      this.#all.set(id, subscriber);
      return subscriber;
    });
  }

  /**
   * Returns the subscriber of a link in a mail.
   * @throws Problem `uptime.unknown_subscriber` (404)
   */
  byLink(page: KnownPage | undefined, link: unknown): Subscriber {
    const [, id = '', token = ''] = /^(\d{1,10})\.([A-Za-z0-9]{32})$/.exec(typeof link === 'string' ? link : '') ?? [];
    const found = this.#all.get(Number(id));
    const isOfPage = found !== undefined && found.page === page?.id;
    if (isOfPage && timingSafeEqual(Buffer.from(found.token), Buffer.from(token))) return found;
    throw new Problem('uptime.unknown_subscriber', 404, 'This link is no longer of use.');
  }

  async confirm({ id }: Subscriber): Promise<void> {
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction.updateTable('page_subscribers').set({ confirmed: 1 }).where('id', '=', id).execute();
    });
    const known = this.#all.get(id);
    if (known !== undefined) this.#all.set(id, { ...known, confirmed: true });
  }

  /** Removes subscribers and their data. */
  async remove(ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      for (let at = 0; at < ids.length; at += 500)
        await transaction
          .deleteFrom('page_subscribers')
          .where('id', 'in', ids.slice(at, at + 500))
          .execute();
    });
    for (const id of ids) this.#all.delete(id);
  }

  /** Removes unconfirmed subscribers after the timeout, and subscribers of deleted pages. */
  async removeOld(pages: ReadonlySet<number>): Promise<void> {
    const before = this.#context.clock.now() - patienceMs;
    const old = [...this.#all.values()].filter(
      (one) => !pages.has(one.page) || (!one.confirmed && one.createdAt < before),
    );
    await this.remove(old.map(({ id }) => id));
  }

  get #db(): Kysely<Tables> {
    return this.#context.db;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#latest.then(work, work);
    this.#latest = turn.catch(() => undefined);
    return turn;
  }
}

function tooMany(): Problem {
  return new Problem('uptime.too_many', 429, 'Too many have asked for mails just now. Try again in an hour.');
}
