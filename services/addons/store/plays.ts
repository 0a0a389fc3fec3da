import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { ServiceId } from '../domain/debrid-services.ts';
import { LruMap } from '../../kit/lru-map.ts';

interface Tables {
  plays: { readonly service: string; readonly hash: string; readonly seen_at: number };
}

const dayMs = 24 * 3_600_000;
/** Services may delete a torrent that is not played. */
const maxAgeMs = 5 * dayMs;
const maxPlays = 20_000;

/**
 * Remembers which torrents a service played without a download. Most services no longer report availability, and adding
 * a torrent to an account only to test it would fill the account.
 */
export class PlayHistory {
  readonly #context: Pick<Context, 'db' | 'commit' | 'clock'>;
  readonly #playedAt = new LruMap<string, number>(maxPlays);

  constructor(context: Pick<Context, 'db' | 'commit' | 'clock'>) {
    this.#context = context;
  }

  async load(): Promise<void> {
    const db = this.#context.db as Kysely<Tables>;
    const since = this.#context.clock.now() - maxAgeMs;
    const rows = await db.selectFrom('plays').selectAll().where('seen_at', '>', since).orderBy('seen_at').execute();
    for (const { service, hash, seen_at } of rows) this.#playedAt.set(`${service} ${hash}`, Number(seen_at));
  }

  wasPlayed(service: ServiceId, hash: string): boolean {
    const playedAt = this.#playedAt.get(`${service} ${hash}`);
    return playedAt !== undefined && this.#context.clock.now() - playedAt < maxAgeMs;
  }

  async recordPlay(service: ServiceId, hash: string): Promise<void> {
    const seen_at = this.#context.clock.now();
    this.#playedAt.set(`${service} ${hash}`, seen_at);
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction
        .insertInto('plays')
        .values({ service, hash, seen_at })
        .onConflict((conflict) => conflict.columns(['service', 'hash']).doUpdateSet({ seen_at }))
        .execute();
      await transaction
        .deleteFrom('plays')
        .where('seen_at', '<', seen_at - maxAgeMs)
        .execute();
    });
  }

  async removePlay(service: ServiceId, hash: string): Promise<void> {
    if (!this.#playedAt.delete(`${service} ${hash}`)) return;
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction.deleteFrom('plays').where('service', '=', service).where('hash', '=', hash).execute();
    });
  }
}
