import { sql, type Kysely, type Selectable } from 'kysely';
import type { MailTables, MessageTable } from './tables.ts';

/** A mail that is in the spool. */
export interface Message {
  readonly id: string;
  readonly sender: string;
  readonly recipients: readonly string[];
  /** Bytes. */
  readonly size: number;
  readonly fingerprint: string | undefined;
  /** ms since the epoch. */
  readonly receivedAt: number;
}

/** A mail as the spool's list has it. */
export type StoredMessage = Omit<Message, 'fingerprint'>;

const columns = ['id', 'sender', 'recipients', 'size', 'received_at'] as const;

function stored(row: Pick<Selectable<MessageTable>, (typeof columns)[number]>): StoredMessage {
  const recipients = JSON.parse(row.recipients) as readonly string[];
  return { ...{ id: row.id, sender: row.sender, size: row.size }, recipients, receivedAt: Number(row.received_at) };
}

/** Which mails were accepted; their sources are files beside it. */
export class MessageStore {
  readonly #db: Kysely<MailTables>;

  constructor(db: Kysely<MailTables>) {
    this.#db = db;
  }

  async add(transaction: Kysely<MailTables>, message: Message): Promise<void> {
    await transaction
      .insertInto('messages')
      .values({
        id: message.id,
        sender: message.sender,
        recipients: JSON.stringify(message.recipients),
        size: message.size,
        fingerprint: message.fingerprint ?? null,
        received_at: message.receivedAt,
      })
      .execute();
  }

  /** Id of the same mail, accepted not before `since`. */
  async findTwin(transaction: Kysely<MailTables>, fingerprint: string, since: number): Promise<string | undefined> {
    const row = await transaction
      .selectFrom('messages')
      .select('id')
      .where('fingerprint', '=', fingerprint)
      .where('received_at', '>=', since)
      .executeTakeFirst();
    return row?.id;
  }

  async find(id: string): Promise<StoredMessage | undefined> {
    const row = await this.#db.selectFrom('messages').select(columns).where('id', '=', id).executeTakeFirst();
    return row && stored(row);
  }

  /** Newest first, received before `before`; `words` stand in sender or recipients, in any case. */
  async list(filter: {
    readonly before: number | undefined;
    readonly words: string;
    readonly limit: number;
  }): Promise<readonly StoredMessage[]> {
    const { before, words, limit } = filter;
    const pattern = `%${words.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
    const has = (column: 'sender' | 'recipients') =>
      sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
    const rows = await this.#db
      .selectFrom('messages')
      .select(columns)
      .$if(before !== undefined, (query) => query.where('received_at', '<', before ?? 0))
      .$if(words !== '', (query) => query.where((on) => on.or([has('sender'), has('recipients')])))
      .orderBy('received_at', 'desc')
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(stored);
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

  async remove(ids: readonly string[]): Promise<void> {
    await this.#db.deleteFrom('messages').where('id', 'in', ids).execute();
  }
}
