import type { Expression, Kysely, Selectable, SqlBool } from 'kysely';
import type { NotifyDelivery, NotifyHistoryEntry } from '../../contracts/notify/history.ts';
import { NotificationType, TextFormat, type NotificationContent } from '../../contracts/notify/notification.ts';
import { parseSearch } from '../../kit/search-terms.ts';
import type { NotificationIndex } from './notification-index.ts';
import type { MaskedUrls } from '../store/masked-urls.ts';
import type { DeliveryTable, NotifyTables } from '../store/tables.ts';

/** Notification in the history. The jobs determine which deliveries can be retried. */
export interface PastNotification extends Omit<NotifyHistoryEntry, 'deliveries'> {
  readonly deliveries: readonly Omit<NotifyDelivery, 'givenUp' | 'nextAt'>[];
}

/** Filter of the history. */
export interface HistoryFilter {
  /** Only notifications older than the one with this ID. */
  readonly before?: string | undefined;
  readonly q?: string | undefined;
  readonly key?: string | undefined;
  readonly state?: DeliveryTable['state'] | undefined;
  /** Only this notification. */
  readonly id?: string;
  readonly limit: number;
}

const deliveryColumns = [
  ...(['notice_id', 'destination_id', 'service', 'shown_url'] as const),
  ...(['state', 'attempts', 'detail', 'code', 'updated_at'] as const),
] as const;
type DeliveryRow = Pick<Selectable<DeliveryTable>, (typeof deliveryColumns)[number]>;

/** Maximum number of characters of a body in the history. */
const maxBodyLength = 500;

/** Queries accepted notifications and the results of their deliveries. */
export class History {
  readonly #db: Kysely<NotifyTables>;
  readonly #urls: Pick<MaskedUrls, 'open'>;
  readonly #index: Pick<NotificationIndex, 'catchUp' | 'terms'>;

  constructor(
    db: Kysely<NotifyTables>,
    urls: Pick<MaskedUrls, 'open'>,
    index: Pick<NotificationIndex, 'catchUp' | 'terms'>,
  ) {
    this.#db = db;
    this.#urls = urls;
    this.#index = index;
  }

  /** Returns the matching notifications, the newest first. */
  async list({ before, q = '', key, state, id, limit }: HistoryFilter): Promise<readonly PastNotification[]> {
    const phrases = parseSearch(q);
    // The search text contains no searchable word.
    if (phrases.length === 0 && q.trim() !== '') return [];
    if (phrases.length > 0) await this.#index.catchUp();
    const after = before === undefined ? undefined : await this.#time(before);
    if (before !== undefined && after === undefined) return [];
    const notifications = await this.#db
      .selectFrom('notices')
      .select(['id', 'configuration', 'title', 'type', 'source', 'created_at'])
      .select((on) => on.fn<string>('substr', ['body', on.val(1), on.val(maxBodyLength)]).as('body'))
      .where((on) => {
        const hasDelivery = (requiredState: DeliveryTable['state']): Expression<SqlBool> =>
          on.exists(
            on
              .selectFrom('deliveries')
              .select('deliveries.notice_id')
              .whereRef('deliveries.notice_id', '=', 'notices.id')
              .where('deliveries.state', '=', requiredState),
          );
        const all: Expression<SqlBool>[] = phrases.length === 0 ? [] : [this.#index.terms.buildCondition(phrases)];
        if (id !== undefined) all.push(on('id', '=', id));
        if (key !== undefined && key !== '') all.push(on('configuration', '=', key));
        if (state === 'done') all.push(on.not(hasDelivery('dead')), on.not(hasDelivery('waiting')));
        else if (state !== undefined) all.push(hasDelivery(state));
        if (after !== undefined && before !== undefined) {
          const same = on.and([on('created_at', '=', after), on('id', '<', before)]);
          all.push(on.or([on('created_at', '<', after), same]));
        }
        return on.and(all);
      })
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    if (notifications.length === 0) return [];
    const deliveries = await this.#listDeliveries(notifications.map(({ id }) => id));
    return notifications.map(({ configuration, created_at, ...notification }) => ({
      ...notification,
      key: configuration,
      time: Number(created_at),
      deliveries: (deliveries.get(notification.id) ?? []).map(toDelivery),
    }));
  }

  /** Returns the deliveries of notifications, by ID of the notification. */
  async #listDeliveries(ids: readonly string[]): Promise<ReadonlyMap<string, readonly DeliveryRow[]>> {
    const rows = await this.#db
      .selectFrom('deliveries')
      .select(deliveryColumns)
      .where('notice_id', 'in', ids)
      .execute();
    const opened = rows.map((row) => ({ ...row, shown_url: this.#urls.open(row.shown_url) }));
    opened.sort((a, b) => (a.shown_url < b.shown_url ? -1 : 1));
    return Map.groupBy(opened, (row) => row.notice_id);
  }

  /** Returns a complete notification with the IDs of its destinations, for resending. */
  async find(id: string): Promise<
    | {
        readonly configuration: string;
        readonly content: NotificationContent;
        readonly destinations: readonly string[];
        /** Original number of attachments. */
        readonly files: number;
      }
    | undefined
  > {
    const row = await this.#db.selectFrom('notices').selectAll().where('id', '=', id).executeTakeFirst();
    if (row === undefined) return undefined;
    const deliveries = await this.#db
      .selectFrom('deliveries')
      .select('destination_id')
      .where('notice_id', '=', id)
      .execute();
    const tags: unknown = JSON.parse(row.tags);
    return {
      configuration: row.configuration,
      files: row.files,
      content: {
        title: row.title,
        body: row.body,
        source: row.source,
        type: NotificationType.parse(row.type),
        format: TextFormat.parse(row.format),
        tags: Array.isArray(tags) ? tags.map(String) : [],
        ...(row.link === null ? {} : { link: row.link }),
      },
      destinations: deliveries.map(({ destination_id }) => destination_id),
    };
  }

  /** Returns the deliveries in this state with this latest failure, as `notification:destination`. */
  async findFailed(cause: string, state: 'waiting' | 'dead'): Promise<ReadonlySet<string>> {
    const rows = await this.#db
      .selectFrom('deliveries')
      .select(['notice_id', 'destination_id'])
      .where('state', '=', state)
      .where('attempts', '>', 0)
      .where('detail', '=', cause)
      .execute();
    return new Set(rows.map((row) => `${row.notice_id}:${row.destination_id}`));
  }

  async #time(id: string): Promise<number | undefined> {
    const row = await this.#db.selectFrom('notices').select('created_at').where('id', '=', id).executeTakeFirst();
    return row === undefined ? undefined : Number(row.created_at);
  }
}

function toDelivery(row: DeliveryRow): PastNotification['deliveries'][number] {
  return {
    destination: row.destination_id,
    service: row.service,
    url: row.shown_url,
    state: row.state,
    attempts: row.attempts,
    detail: row.detail,
    code: row.code,
    updatedAt: Number(row.updated_at),
  };
}
