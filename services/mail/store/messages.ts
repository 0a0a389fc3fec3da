import type { Kysely } from 'kysely';
import type { MailTables } from './tables.ts';

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
