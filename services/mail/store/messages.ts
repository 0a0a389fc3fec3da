import { sql, type Kysely, type Selectable } from 'kysely';
import { isPostgres } from '../../kit/dialect.ts';
import { executeCached } from '../../kit/cached-statement.ts';
import type { Delivery } from '../domain/deliveries.ts';
import type { MailTables, MessageTable } from './tables.ts';
import { buildContainsPattern } from '../../kit/like-pattern.ts';

/** Mail in the spool. */
export interface Message {
  readonly id: string;
  readonly sender: string;
  readonly recipients: readonly string[];
  readonly subject: string;
  /** Bytes. */
  readonly size: number;
  readonly fingerprint: string | undefined;
  /** Deliveries; the index is the part number. */
  readonly deliveries: readonly Delivery[];
  /** Note about special handling; empty without one. */
  readonly note: string;
  /** ms since the epoch. */
  readonly receivedAt: number;
}

/** Listed mail. */
export interface StoredMessage extends Omit<Message, 'fingerprint' | 'subject'> {
  /** Undefined for mails of older versions. */
  readonly subject: string | undefined;
}

/** Filter of mails, listed newest first. */
export interface MessageFilter {
  /** Text in sender, recipients or subject, ignoring case. */
  readonly words: string;
  /** Only these ids, of any number. */
  readonly ids?: readonly string[] | undefined;
  /** Excludes these ids, of any number. */
  readonly exceptIds?: readonly string[] | undefined;
  /** Only mails dropped by a rule, or only others. */
  readonly dropped?: boolean | undefined;
  /** Only mails after this one in the list. */
  readonly before?: { readonly receivedAt: number; readonly id: string } | undefined;
  readonly limit: number;
}

const columns = ['id', 'sender', 'recipients', 'subject', 'size', 'deliveries', 'note', 'received_at'] as const;

function toStoredMessage(row: Pick<Selectable<MessageTable>, (typeof columns)[number]>): StoredMessage {
  return {
    id: row.id,
    sender: row.sender,
    size: row.size,
    note: row.note,
    receivedAt: Number(row.received_at),
    recipients: JSON.parse(row.recipients) as readonly string[],
    subject: row.subject ?? undefined,
    deliveries: JSON.parse(row.deliveries) as readonly Delivery[],
  };
}

/** Milliseconds within which a client that received no reply sends again. */
const duplicateWindowMs = 10 * 60_000;

/**
 * Prefixes a fingerprint with its time window, so that recent ones are adjacent in the index; otherwise each mail would
 * change another page, and each changed page is written and synced.
 */
function toIndexedFingerprint(fingerprint: string, time: number): string {
  return `${Math.floor(time / duplicateWindowMs).toString(36)}.${fingerprint}`;
}

/** Stores accepted mails. */
export class MessageStore {
  readonly #db: Kysely<MailTables>;

  constructor(db: Kysely<MailTables>) {
    this.#db = db;
  }

  async add(transaction: Kysely<MailTables>, message: Message): Promise<void> {
    const { id, sender, recipients, subject, size, deliveries, note, fingerprint, receivedAt } = message;
    const row = {
      id,
      sender,
      recipients: JSON.stringify(recipients),
      subject,
      words: [sender, ...recipients, subject].join('\n').toLowerCase(),
      size,
      deliveries: JSON.stringify(deliveries),
      note,
      fingerprint: fingerprint === undefined ? null : toIndexedFingerprint(fingerprint, receivedAt),
      received_at: receivedAt,
    };
    const build = () => transaction.insertInto('messages').values(row).compile();
    await executeCached(transaction, 'mail.message', Object.values(row), build);
  }

  /** Returns the id of the same mail, accepted within ten minutes before `now` (ms since the epoch). */
  async findDuplicate(transaction: Kysely<MailTables>, fingerprint: string, now: number): Promise<string | undefined> {
    const [newer, older, since] = [
      toIndexedFingerprint(fingerprint, now),
      toIndexedFingerprint(fingerprint, now - duplicateWindowMs),
      now - duplicateWindowMs,
    ];
    const build = () =>
      transaction
        .selectFrom('messages')
        .select('id')
        .where('fingerprint', 'in', [newer, older])
        .where('received_at', '>=', since)
        .limit(sql.lit(1))
        .compile();
    const { rows } = await executeCached<{ id: string }>(transaction, 'mail.duplicate', [newer, older, since], build);
    return rows[0]?.id;
  }

  async find(id: string, db: Kysely<MailTables> = this.#db): Promise<StoredMessage | undefined> {
    const row = await db.selectFrom('messages').select(columns).where('id', '=', id).executeTakeFirst();
    return row && toStoredMessage(row);
  }

  async list({ words, ids, exceptIds, dropped, before, limit }: MessageFilter): Promise<readonly StoredMessage[]> {
    const pattern = buildContainsPattern(words.toLowerCase());
    // Mails of older versions have no words; the database lowers ASCII letters only.
    const contains = (column: 'words' | 'sender' | 'recipients') =>
      sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
    const rows = await this.#db
      .selectFrom('messages')
      .select(columns)
      .$if(before !== undefined, (query) => {
        const { receivedAt = 0, id = '' } = before ?? {};
        return query.where((on) =>
          on.or([on('received_at', '<', receivedAt), on.and([on('received_at', '=', receivedAt), on('id', '<', id)])]),
        );
      })
      .$if(ids !== undefined, (query) => query.where('id', 'in', this.#toIdList(ids ?? [])))
      .$if(exceptIds !== undefined, (query) => query.where('id', 'not in', this.#toIdList(exceptIds ?? [])))
      .$if(dropped === true, (query) => query.where('deliveries', '=', '[]').where('note', '<>', ''))
      .$if(dropped === false, (query) =>
        query.where((on) => on.or([on('deliveries', '<>', '[]'), on('note', '=', '')])),
      )
      .$if(words !== '', (query) =>
        query.where((on) => on.or([contains('words'), contains('sender'), contains('recipients')])),
      )
      .orderBy('received_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(toStoredMessage);
  }

  /** Passes ids as one value, because a statement has a limited number of parameters. */
  #toIdList(ids: readonly string[]) {
    const text = JSON.stringify(ids);
    return isPostgres(this.#db)
      ? sql<string>`(select jsonb_array_elements_text(${text}::jsonb))`
      : sql<string>`(select value from json_each(${text}))`;
  }

  async updateDeliveries(transaction: Kysely<MailTables>, id: string, deliveries: readonly Delivery[]): Promise<void> {
    await transaction
      .updateTable('messages')
      .set({ deliveries: JSON.stringify(deliveries) })
      .where('id', '=', id)
      .execute();
  }

  /** Returns the time of the newest mail in ms since the epoch. */
  async findNewestTime(): Promise<number | undefined> {
    const row = await this.#db
      .selectFrom('messages')
      .select('received_at')
      .orderBy('received_at', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row === undefined ? undefined : Number(row.received_at);
  }

  async listBefore(time: number, limit: number): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom('messages')
      .select('id')
      .where('received_at', '<', time)
      .orderBy('received_at')
      .limit(limit)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Deletes mails and their sources in the database. */
  async remove(ids: readonly string[], db: Kysely<MailTables> = this.#db): Promise<void> {
    await db.deleteFrom('sources').where('id', 'in', ids).execute();
    await db.deleteFrom('messages').where('id', 'in', ids).execute();
  }
}
