import type { Kysely } from 'kysely';
import type { DeliveryTable, NotifyTables } from './tables.ts';

/** A notice as the history shows it. */
export interface PastNotice {
  readonly id: string;
  readonly key: string;
  readonly title: string;
  readonly body: string;
  readonly type: string;
  readonly source: string;
  /** ms since the epoch. */
  readonly time: number;
  readonly deliveries: readonly {
    readonly destination: string;
    readonly service: string;
    readonly url: string;
    readonly state: DeliveryTable['state'];
    readonly attempts: number;
    readonly detail: string;
    readonly updatedAt: number;
  }[];
}

/** Characters of a body that the history shows. */
const bodyLength = 500;

/** Accepted notices and what became of them, for a person who looks back. */
export class History {
  readonly #db: Kysely<NotifyTables>;

  constructor(db: Kysely<NotifyTables>) {
    this.#db = db;
  }

  /** Newest first, accepted before `before`. `state`: those with such a delivery alone. */
  async list(filter: {
    readonly before: number | undefined;
    readonly state: DeliveryTable['state'] | undefined;
    readonly limit: number;
  }): Promise<readonly PastNotice[]> {
    const { before, state, limit } = filter;
    const notices = await this.#db
      .selectFrom('notices')
      .select(['id', 'configuration', 'title', 'type', 'source', 'created_at'])
      .select((on) => on.fn<string>('substr', ['body', on.val(1), on.val(bodyLength)]).as('body'))
      .$if(before !== undefined, (query) => query.where('created_at', '<', before ?? 0))
      .$if(state !== undefined, (query) =>
        query.where((on) =>
          on.exists(
            on
              .selectFrom('deliveries')
              .select('deliveries.notice_id')
              .whereRef('deliveries.notice_id', '=', 'notices.id')
              .where('deliveries.state', '=', state ?? 'dead'),
          ),
        ),
      )
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .limit(limit)
      .execute();
    if (notices.length === 0) return [];
    const ids = notices.map(({ id }) => id);
    const deliveries = await this.#db
      .selectFrom('deliveries')
      .select(['notice_id', 'destination_id', 'service', 'shown_url', 'state', 'attempts', 'detail', 'updated_at'])
      .where('notice_id', 'in', ids)
      .orderBy('shown_url')
      .execute();
    const byNotice = Map.groupBy(deliveries, (row) => row.notice_id);
    return notices.map(({ configuration, created_at, ...notice }) => ({
      ...notice,
      key: configuration,
      time: Number(created_at),
      deliveries: (byNotice.get(notice.id) ?? []).map((row) => ({
        ...{ destination: row.destination_id, service: row.service, url: row.shown_url, state: row.state },
        ...{ attempts: row.attempts, detail: row.detail, updatedAt: Number(row.updated_at) },
      })),
    }));
  }
}
