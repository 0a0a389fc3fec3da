import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { NotifyFailureCode, NotifyHour } from '../../contracts/notify/statistics.ts';
import type { DeliveryTable, NotifyTables } from './tables.ts';

/** Number of deliveries of a destination in one time interval. */
export interface DeliveryCount {
  readonly destination: string;
  readonly state: DeliveryTable['state'];
  /** Index of the interval, from 0. */
  readonly index: number;
  readonly count: number;
}

/** Latency of deliveries, in ms. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
}

/** Incomplete delivery. */
export interface IncompleteDelivery {
  readonly notice: string;
  readonly destination: string;
  readonly service: string;
  readonly state: 'waiting' | 'dead';
  /** 0: waits for its predecessor. */
  readonly attempts: number;
  readonly detail: string;
  readonly code: NotifyFailureCode | '';
  readonly updatedAt: number;
}

/** Maximum number of waiting and dead deliveries that are summarized; higher than a home reaches. */
export const maxIncomplete = 100_000;
/** Maximum number of rows per query, because each row contains a failure text. */
const pageSize = 10_000;

/** Aggregates deliveries in the database. */
export class DeliveryStatistics {
  readonly #db: Kysely<NotifyTables>;

  constructor(db: Kysely<NotifyTables>) {
    this.#db = db;
  }

  /**
   * Counts deliveries by destination and interval; `from` contains the starts of the intervals, oldest first, and the
   * last one ends before `until`.
   */
  async count(from: readonly number[], until = Number.MAX_SAFE_INTEGER): Promise<readonly DeliveryCount[]> {
    const rows = await this.#db
      .selectFrom('deliveries')
      .innerJoin('notices', 'notices.id', 'deliveries.notice_id')
      .where('notices.created_at', '>=', from[0] ?? 0)
      .where('notices.created_at', '<', until)
      .select(['deliveries.destination_id as destination', 'deliveries.state as state'])
      .select(buildIntervalIndex(from).as('index'))
      .select((on) => on.fn.countAll<number>().as('count'))
      .groupBy(['deliveries.destination_id', 'deliveries.state', buildIntervalIndex(from)])
      .execute();
    return rows.map((row) => ({ ...row, index: Number(row.index), count: Number(row.count) }));
  }

  /** Returns the latency by destination, for notifications since a time. */
  async latencies(since: number): Promise<ReadonlyMap<string, Latency>> {
    return this.#percentiles(since, sql<string>`deliveries.destination_id`);
  }

  /** Returns the results of the deliveries by hour, oldest first. */
  async hours(from: readonly number[]): Promise<readonly NotifyHour[]> {
    const [counted, latencies] = await Promise.all([
      this.count(from),
      this.#percentiles(from[0] ?? 0, buildIntervalIndex(from)),
    ]);
    return from.map((hourStart, index) => {
      const countState = (state: DeliveryTable['state']): number =>
        counted.reduce((sum, row) => sum + (row.index === index && row.state === state ? row.count : 0), 0);
      const latency = latencies.get(String(index));
      return {
        at: hourStart,
        done: countState('done'),
        dead: countState('dead'),
        waiting: countState('waiting'),
        p50: latency?.p50 ?? null,
        p95: latency?.p95 ?? null,
      };
    });
  }

  /** Lists failed deliveries and those that wait for a failed predecessor, the newest notifications first. */
  async listIncomplete(): Promise<readonly IncompleteDelivery[]> {
    const deliveries: IncompleteDelivery[] = [];
    for (
      let page = await this.#listPageAfter(undefined);
      page.length > 0;
      page = await this.#listPageAfter(deliveries.at(-1))
    ) {
      for (const each of page) deliveries.push(each);
      if (page.length < pageSize || deliveries.length >= maxIncomplete) break;
    }
    return deliveries;
  }

  async #listPageAfter(last: IncompleteDelivery | undefined): Promise<readonly IncompleteDelivery[]> {
    let query = this.#db
      .selectFrom('deliveries')
      .select(['notice_id', 'destination_id', 'service', 'state', 'attempts', 'detail', 'code', 'updated_at'])
      .where('state', 'in', ['waiting', 'dead'])
      .where((on) => {
        const failing = on
          .selectFrom('deliveries as ahead')
          .select('ahead.destination_id')
          .where('ahead.state', '=', sql.lit('waiting'))
          .where('ahead.attempts', '>', 0);
        const isBehind = on.and([on('state', '=', 'waiting'), on('destination_id', 'in', failing)]);
        return on.or([on('attempts', '>', 0), isBehind]);
      })
      .orderBy('notice_id', 'desc')
      .orderBy('destination_id', 'desc')
      .limit(pageSize);
    if (last !== undefined) {
      query = query.where((on) =>
        on.or([
          on('notice_id', '<', last.notice),
          on.and([on('notice_id', '=', last.notice), on('destination_id', '<', last.destination)]),
        ]),
      );
    }
    const rows = await query.execute();
    return rows.flatMap(({ state, ...row }) =>
      state === 'done'
        ? []
        : [
            {
              notice: row.notice_id,
              destination: row.destination_id,
              service: row.service,
              state,
              attempts: row.attempts,
              detail: row.detail,
              code: row.code,
              updatedAt: Number(row.updated_at),
            },
          ],
    );
  }

  async #percentiles(since: number, group: RawBuilder<unknown>): Promise<ReadonlyMap<string, Latency>> {
    const ranked = sql`select ${group} as name, deliveries.updated_at - notices.created_at as took,
      row_number() over (partition by ${group} order by deliveries.updated_at - notices.created_at) as place,
      count(*) over (partition by ${group}) as total
      from deliveries inner join notices on notices.id = deliveries.notice_id
      where deliveries.state = 'done' and notices.created_at >= ${since}`;
    const { rows } = await sql<{ name: string | number; p50: number; p95: number }>`select name,
      max(case when place <= ceil(total * 0.5) then took end) as p50,
      max(case when place <= ceil(total * 0.95) then took end) as p95
      from (${ranked}) as ranked group by name`.execute(this.#db);
    return new Map(rows.map(({ name, p50, p95 }) => [String(name), { p50: Number(p50), p95: Number(p95) }]));
  }
}

/**
 * Builds the index of a notification's interval. Uses literals, because the same expression is needed in select and
 * group by.
 */
function buildIntervalIndex(from: readonly number[]): RawBuilder<number> {
  const cases = from.map((time, index) => sql`when notices.created_at >= ${sql.lit(time)} then ${sql.lit(index)}`);
  return sql<number>`case ${sql.join(cases.reverse(), sql` `)} else 0 end`;
}
