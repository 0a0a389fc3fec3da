import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely';
import { z } from 'zod';
import { executeCached, chunkRows } from '../../kit/cached-statement.ts';
import { NotificationType, TextFormat } from '../../contracts/notify/notification.ts';
import type { NotifyFailureCode } from '../../contracts/notify/statistics.ts';
import type { Message } from '../domain/message.ts';
import type { DeliveryTable, NotificationTable, NotifyTables } from './tables.ts';

/** Delivery at its acceptance. */
export const NewDelivery = z.object({
  destinationId: z.string(),
  service: z.string(),
  sealedUrl: z.string(),
  shownUrl: z.string(),
  optional: z.boolean(),
  /** Window whose notifications are combined. */
  digest: z.string().optional(),
  /** Counts against the rate limit of its destination. */
  rated: z.boolean().optional(),
});
export type NewDelivery = Readonly<z.infer<typeof NewDelivery>>;

/** Completed delivery. */
export interface CompletedDelivery {
  /** IDs. */
  readonly notice: string;
  readonly destination: string;
  readonly attempts: number;
  readonly detail: string;
}

/** Incomplete delivery with its notification. */
export interface OpenDelivery {
  readonly message: Message;
  /** Number of attachments. */
  readonly files: number;
  readonly service: string;
  readonly sealedUrl: string;
  readonly shownUrl: string;
  readonly digest: string | undefined;
  /** Confirmed steps of previous attempts. */
  readonly progress: string;
}

const weekMs = 7 * 24 * 3_600_000;
/** Maximum number of rows in one statement: SQLite binds 32,766 values, a delivery has ten. */
const insertBatchSize = 1000;

/** Stores notifications and their deliveries. */
export class NotificationStore {
  readonly #db: Kysely<NotifyTables>;

  constructor(db: Kysely<NotifyTables>) {
    this.#db = db;
  }

  /** Writes a notification and its deliveries. Returns false, without a change, if the ID exists. */
  async add(
    transaction: Kysely<NotifyTables>,
    configuration: string,
    message: Message,
    deliveries: readonly NewDelivery[],
    { files = 0, fingerprint }: { readonly files?: number; readonly fingerprint?: string | undefined } = {},
  ): Promise<boolean> {
    const row = {
      id: message.id,
      configuration,
      title: message.title,
      body: message.body,
      type: message.type,
      format: message.format,
      tags: JSON.stringify(message.tags),
      link: message.link ?? null,
      source: message.source,
      files,
      hops: message.hops ?? 0,
      fingerprint: fingerprint ?? null,
      created_at: message.time,
    };
    const build = () =>
      transaction
        .insertInto('notices')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .compile();
    const { numAffectedRows } = await executeCached(transaction, 'notify.notice', Object.values(row), build);
    if (numAffectedRows !== 1n) return false;
    await this.addDeliveries(transaction, message.id, deliveries, message.time);
    return true;
  }

  /** Returns the destinations with a failed delivery that is retried, and the time of the last attempt. */
  async listFailing(): Promise<readonly { readonly destination: string; readonly triedAt: number }[]> {
    const rows = await this.#db
      .selectFrom('deliveries')
      .select('destination_id')
      .select((on) => on.fn.max('updated_at').as('tried_at'))
      .where('state', '=', sql.lit('waiting'))
      .where('attempts', '>', 0)
      .groupBy('destination_id')
      .execute();
    return rows.map(({ destination_id, tried_at }) => ({ destination: destination_id, triedAt: Number(tried_at) }));
  }

  /** Writes deliveries of an existing notification. */
  async addDeliveries(
    transaction: Kysely<NotifyTables>,
    notificationId: string,
    deliveries: readonly NewDelivery[],
    time: number,
  ): Promise<void> {
    const rows = deliveries.map(({ destinationId, service, sealedUrl, shownUrl, optional, digest, rated }) => ({
      notice_id: notificationId,
      destination_id: destinationId,
      service,
      sealed_url: sealedUrl,
      shown_url: shownUrl,
      optional: optional ? 1 : 0,
      digest: digest ?? null,
      rated_at: rated === true ? time : null,
      state: 'waiting' as const,
      attempts: 0,
      detail: '',
      updated_at: time,
    }));
    for (let start = 0; start < rows.length; start += insertBatchSize) {
      const batch = rows.slice(start, start + insertBatchSize);
      const values = batch.flatMap((row) => Object.values(row));
      const build = () => transaction.insertInto('deliveries').values(batch).compile();
      await executeCached(transaction, `notify.deliveries ${String(batch.length)}`, values, build);
    }
  }

  /**
   * Returns an incomplete delivery; undefined if it is completed or its notification was deleted. Includes dead
   * letters, which may be retried.
   */
  async open(notificationId: string, destinationId: string): Promise<OpenDelivery | undefined> {
    const build = () => this.#selectOpen(destinationId).where('deliveries.notice_id', '=', notificationId).compile();
    const { rows } = await executeCached(this.#db, 'notify.open', [destinationId, 'done', notificationId], build);
    const [row] = rows;
    return row === undefined ? undefined : readDelivery(row);
  }

  /** Returns the waiting deliveries of a window in the order of their notifications. */
  async openDigest(destinationId: string, digest: string): Promise<readonly OpenDelivery[]> {
    const rows = await this.#selectOpen(destinationId)
      .where('deliveries.digest', '=', digest)
      .where('deliveries.state', '=', 'waiting')
      .orderBy('notices.created_at')
      .orderBy('notices.id')
      .limit(insertBatchSize)
      .execute();
    return rows.map(readDelivery);
  }

  #selectOpen(destinationId: string) {
    return this.#db
      .selectFrom('deliveries')
      .innerJoin('notices', 'notices.id', 'deliveries.notice_id')
      .selectAll('notices')
      .select(['deliveries.service', 'deliveries.sealed_url', 'deliveries.shown_url', 'deliveries.digest'])
      .select('deliveries.progress')
      .where('deliveries.destination_id', '=', destinationId)
      .where('deliveries.state', '!=', 'done');
  }

  /** Returns a delivery in any state. */
  async find(
    notificationId: string,
    destinationId: string,
  ): Promise<
    (Pick<Selectable<DeliveryTable>, 'service' | 'state' | 'code'> & { readonly shownUrl: string }) | undefined
  > {
    return this.#db
      .selectFrom('deliveries')
      .select(['service', 'shown_url as shownUrl', 'state', 'code'])
      .where('notice_id', '=', notificationId)
      .where('destination_id', '=', destinationId)
      .executeTakeFirst();
  }

  /** Records the result of one attempt. A completed delivery no longer needs its URL. */
  async recordAttempt(
    transaction: Kysely<NotifyTables>,
    notificationId: string,
    destinationId: string,
    outcome: {
      readonly state: 'waiting' | 'done' | 'dead';
      readonly attempts: number;
      readonly detail: string;
      /** Code of the failure, or empty; unset keeps the stored one. */
      readonly code?: NotifyFailureCode | '';
    },
    now: number,
  ): Promise<void> {
    await transaction
      .updateTable('deliveries')
      .set({ ...outcome, updated_at: now, ...(outcome.state === 'done' ? { sealed_url: '' } : {}) })
      .where('notice_id', '=', notificationId)
      .where('destination_id', '=', destinationId)
      .execute();
  }

  /** Records completed deliveries, one statement per result. */
  async recordDone(
    transaction: Kysely<NotifyTables>,
    completed: readonly CompletedDelivery[],
    now: number,
  ): Promise<void> {
    const groups = Map.groupBy(completed, ({ attempts, detail }) => JSON.stringify([attempts, detail]));
    for (const each of groups.values()) {
      for (const batch of chunkRows(each)) {
        const [{ attempts, detail } = { attempts: 0, detail: '' }] = batch;
        const { shape, condition, values } = buildDeliverySelection(batch);
        const build = () =>
          sql<never>`update deliveries set state = 'done', attempts = ${attempts}, detail = ${detail}, code = '',
            updated_at = ${now}, sealed_url = '' where ${condition()}`.compile(transaction);
        await executeCached(transaction, `notify.done ${shape}`, [attempts, detail, now, ...values], build);
      }
    }
  }

  /** Returns the waiting deliveries whose last attempt failed with this code, as `notification:destination`. */
  async listWaitingKeys(code: NotifyFailureCode): Promise<ReadonlySet<string>> {
    const rows = await this.#db
      .selectFrom('deliveries')
      .select(['notice_id', 'destination_id'])
      .where('state', '=', sql.lit('waiting'))
      .where('code', '=', code)
      .execute();
    return new Set(rows.map(({ notice_id, destination_id }) => `${notice_id}:${destination_id}`));
  }

  async countWaiting(): Promise<number> {
    const { count } = await this.#db
      .selectFrom('deliveries')
      .select((on) => on.fn.countAll<number | string>().as('count'))
      .where('state', '=', sql.lit('waiting'))
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /**
   * Deletes notifications that were accepted before `time` and have no waiting deliveries, and those a week older: no
   * job lasts that long, so their waiting jobs were dropped. Returns the number.
   */
  async deleteOld(time: number): Promise<number> {
    const { numDeletedRows } = await this.#db
      .deleteFrom('notices')
      .where('created_at', '<', time)
      .where((on) => {
        const waiting = on
          .selectFrom('deliveries')
          .select('deliveries.notice_id')
          .whereRef('deliveries.notice_id', '=', 'notices.id')
          .where('deliveries.state', '=', 'waiting');
        return on.or([on('created_at', '<', time - weekMs), on.not(on.exists(waiting))]);
      })
      .executeTakeFirst();
    return Number(numDeletedRows);
  }
}

interface DeliverySelection {
  /** Distinguishes the texts of cached statements. */
  readonly shape: string;
  readonly condition: () => RawBuilder<unknown>;
  readonly values: readonly string[];
}

/** Selects the deliveries of one notification, or any deliveries. */
function buildDeliverySelection(completed: readonly CompletedDelivery[]): DeliverySelection {
  const [first] = completed;
  const destinations = completed.map(({ destination }) => destination);
  if (first !== undefined && completed.every(({ notice }) => notice === first.notice)) {
    const condition = () => sql`notice_id = ${first.notice} and destination_id in (${sql.join(destinations)})`;
    return { shape: `to ${String(completed.length)}`, condition, values: [first.notice, ...destinations] };
  }
  const places = () => sql.join(completed.map(({ notice, destination }) => sql`(${notice}, ${destination})`));
  return {
    shape: String(completed.length),
    condition: () => sql`(notice_id, destination_id) in (values ${places()})`,
    values: completed.flatMap(({ notice, destination }) => [notice, destination]),
  };
}

function readDelivery(
  row: Selectable<NotificationTable> & {
    readonly service: string;
    readonly sealed_url: string;
    readonly shown_url: string;
    readonly digest: string | null;
    readonly progress: string;
  },
): OpenDelivery {
  const tags: unknown = JSON.parse(row.tags);
  return {
    files: row.files,
    service: row.service,
    sealedUrl: row.sealed_url,
    shownUrl: row.shown_url,
    digest: row.digest ?? undefined,
    progress: row.progress,
    message: {
      id: row.id,
      title: row.title,
      body: row.body,
      type: NotificationType.parse(row.type),
      format: TextFormat.parse(row.format),
      tags: Array.isArray(tags) ? tags.map(String) : [],
      link: row.link ?? undefined,
      source: row.source,
      time: Number(row.created_at),
      ...(row.hops === 0 ? {} : { hops: row.hops }),
    },
  };
}
