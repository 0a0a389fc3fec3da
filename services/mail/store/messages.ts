import { sql, type Kysely, type Selectable } from 'kysely';
import { isPostgres } from '../../kit/dialect.ts';
import { executeCached } from '../../kit/cached-statement.ts';
import type { Delivery } from '../domain/deliveries.ts';
import type { MailTables, MessageTable } from './tables.ts';

/** A mail that is in the spool. */
export interface Message {
  readonly id: string;
  readonly sender: string;
  readonly recipients: readonly string[];
  readonly subject: string;
  /** Bytes. */
  readonly size: number;
  readonly fingerprint: string | undefined;
  /** Where it went; the place in this list is the delivery's part number. */
  readonly deliveries: readonly Delivery[];
  /** What the gateway did with it besides, as a sentence; empty for nothing. */
  readonly note: string;
  /** ms since the epoch. */
  readonly receivedAt: number;
}

/** A mail as the spool's list has it. */
export interface StoredMessage extends Omit<Message, 'fingerprint' | 'subject'> {
  /** Undefined for a mail that came before it was noted. */
  readonly subject: string | undefined;
}

/** Which mails are asked for, newest first. */
export interface MessageFilter {
  /** Stands in sender, recipients or subject, in any case. */
  readonly words: string;
  /** Only these, however many. */
  readonly ids?: readonly string[] | undefined;
  /** None of these, however many. */
  readonly exceptIds?: readonly string[] | undefined;
  /** Only those that a rule wanted told to nobody, or only the others. */
  readonly dropped?: boolean | undefined;
  /** Only those that stand behind this one. */
  readonly before?: { readonly receivedAt: number; readonly id: string } | undefined;
  readonly limit: number;
}

const columns = ['id', 'sender', 'recipients', 'subject', 'size', 'deliveries', 'note', 'received_at'] as const;

function stored(row: Pick<Selectable<MessageTable>, (typeof columns)[number]>): StoredMessage {
  return {
    ...{ id: row.id, sender: row.sender, size: row.size, note: row.note, receivedAt: Number(row.received_at) },
    recipients: JSON.parse(row.recipients) as readonly string[],
    subject: row.subject ?? undefined,
    deliveries: JSON.parse(row.deliveries) as readonly Delivery[],
  };
}

/** A client that saw no answer sends again within minutes. */
const twinMs = 10 * 60_000;

/**
 * A fingerprint as the index has it: those of one time lie side by side. Without that each mail changed another page of
 * the index, and each page that changed is written and synced.
 */
function inTime(fingerprint: string, time: number): string {
  return `${Math.floor(time / twinMs).toString(36)}.${fingerprint}`;
}

/** Which mails were accepted. */
export class MessageStore {
  readonly #db: Kysely<MailTables>;

  constructor(db: Kysely<MailTables>) {
    this.#db = db;
  }

  async add(transaction: Kysely<MailTables>, message: Message): Promise<void> {
    const { id, sender, recipients, subject, size, deliveries, note, fingerprint, receivedAt } = message;
    const row = {
      ...{ id, sender, recipients: JSON.stringify(recipients), subject },
      words: [sender, ...recipients, subject].join('\n').toLowerCase(),
      ...{ size, deliveries: JSON.stringify(deliveries), note },
      fingerprint: fingerprint === undefined ? null : inTime(fingerprint, receivedAt),
      received_at: receivedAt,
    };
    const build = () => transaction.insertInto('messages').values(row).compile();
    await executeCached(transaction, 'mail.message', Object.values(row), build);
  }

  /** Id of the same mail, accepted within the ten minutes before `now`, in ms since the epoch. */
  async findDuplicate(transaction: Kysely<MailTables>, fingerprint: string, now: number): Promise<string | undefined> {
    const [newer, older, since] = [inTime(fingerprint, now), inTime(fingerprint, now - twinMs), now - twinMs];
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
    return row && stored(row);
  }

  async list({ words, ids, exceptIds, dropped, before, limit }: MessageFilter): Promise<readonly StoredMessage[]> {
    const pattern = `%${words.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
    // Older mails have no words; the database lowers only some letters.
    const has = (column: 'words' | 'sender' | 'recipients') =>
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
      .$if(ids !== undefined, (query) => query.where('id', 'in', this.#listed(ids ?? [])))
      .$if(exceptIds !== undefined, (query) => query.where('id', 'not in', this.#listed(exceptIds ?? [])))
      .$if(dropped === true, (query) => query.where('deliveries', '=', '[]').where('note', '<>', ''))
      .$if(dropped === false, (query) =>
        query.where((on) => on.or([on('deliveries', '<>', '[]'), on('note', '=', '')])),
      )
      .$if(words !== '', (query) => query.where((on) => on.or([has('words'), has('sender'), has('recipients')])))
      .orderBy('received_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(stored);
  }

  /** Ids as rows of one value: there may be more of them than a statement takes values. */
  #listed(ids: readonly string[]) {
    const text = JSON.stringify(ids);
    return isPostgres(this.#db)
      ? sql<string>`(select jsonb_array_elements_text(${text}::jsonb))`
      : sql<string>`(select value from json_each(${text}))`;
  }

  async noteDeliveries(transaction: Kysely<MailTables>, id: string, deliveries: readonly Delivery[]): Promise<void> {
    await transaction
      .updateTable('messages')
      .set({ deliveries: JSON.stringify(deliveries) })
      .where('id', '=', id)
      .execute();
  }

  /** When the newest mail came, in ms since the epoch. */
  async newest(): Promise<number | undefined> {
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

  /** Removes mails with those sources that are rows. */
  async remove(ids: readonly string[], db: Kysely<MailTables> = this.#db): Promise<void> {
    await db.deleteFrom('sources').where('id', 'in', ids).execute();
    await db.deleteFrom('messages').where('id', 'in', ids).execute();
  }
}
