import type { Kysely } from 'kysely';
import { executeCached } from '../../kit/cached-statement.ts';
import type { Blobs } from '../../contracts/blobs.ts';
import { getSpoolKey, Spool, type SpoolFile } from './spool.ts';
import type { MailTables } from './tables.ts';

/** Location of a complete source: the key of a blob, or the source itself. */
export type SourceLocation = { readonly key: string } | { readonly bytes: Uint8Array };

/**
 * Raw sources of accepted mails. Small ones are rows, durable with the commit that stores several mails; large ones are
 * blobs.
 */
export class Sources {
  readonly #db: Kysely<MailTables>;
  readonly #spool: Spool;

  constructor(db: Kysely<MailTables>, blobs: Blobs) {
    this.#db = db;
    this.#spool = new Spool(blobs);
  }

  /** Creates a file for a large source, deleted on disposal unless it was kept. */
  create(id: string): SpoolFile {
    return this.#spool.create(id);
  }

  /** Inserts a small source in the transaction of its message. */
  async add(transaction: Kysely<MailTables>, id: string, raw: Uint8Array): Promise<void> {
    const build = () => transaction.insertInto('sources').values({ id, raw }).compile();
    await executeCached(transaction, 'mail.source', [id, raw], build);
  }

  /** Returns a source; undefined when it was deleted. The caller owns the bytes. */
  async read(id: string): Promise<Uint8Array | undefined> {
    return (await this.#readRow(id)) ?? (await this.#spool.read(id));
  }

  /** Returns the first bytes of a source; undefined when it was deleted. */
  async head(id: string, bytes: number): Promise<Uint8Array | undefined> {
    const raw = await this.#readRow(id);
    return raw === undefined ? await this.#spool.head(id, bytes) : raw.subarray(0, bytes);
  }

  /** Returns the location of a source; undefined when it was deleted. */
  async findLocation(id: string): Promise<SourceLocation | undefined> {
    const bytes = await this.#readRow(id);
    if (bytes !== undefined) return { bytes };
    return (await this.#spool.exists(id)) ? { key: getSpoolKey(id) } : undefined;
  }

  async #readRow(id: string): Promise<Uint8Array | undefined> {
    const build = () => this.#db.selectFrom('sources').select('raw').where('id', '=', id).compile();
    const { rows } = await executeCached(this.#db, 'mail.source of', [id], build);
    return rows[0]?.raw;
  }

  /** Deletes files; rows are deleted with their messages. */
  async removeFiles(ids: readonly string[]): Promise<void> {
    await this.#spool.remove(ids);
  }

  /** Returns ids of files last written before `time`, in ms since the epoch. */
  listFilesBefore(time: number): Promise<readonly string[]> {
    return this.#spool.listBefore(time);
  }
}
