import type { Kysely } from 'kysely';
import { executeCached } from '../../kit/cached-statement.ts';
import { Spool, type SpoolFile } from './spool.ts';
import type { MailTables } from './tables.ts';

/** Where the source of a mail can be had whole. */
export type Place = { readonly path: string } | { readonly bytes: Uint8Array };

/**
 * Raw sources of accepted mails. Small ones are rows, durable with the one sync of the commit that takes many mails; large
 * ones are files, as all were once.
 */
export class Sources {
  readonly #db: Kysely<MailTables>;
  readonly #spool: Spool;

  /** `files` is the service's folder. */
  constructor(db: Kysely<MailTables>, files: string) {
    this.#db = db;
    this.#spool = new Spool(files);
  }

  open(): Promise<void> {
    return this.#spool.open();
  }

  /** A file for a large source; it vanishes at its disposal unless it was kept. */
  create(id: string): Promise<SpoolFile> {
    return this.#spool.create(id);
  }

  /** Writes a small source in the transaction of its message. */
  async add(transaction: Kysely<MailTables>, id: string, raw: Uint8Array): Promise<void> {
    const build = () => transaction.insertInto('sources').values({ id, raw }).compile();
    await executeCached(transaction, 'mail.source', [id, raw], build);
  }

  /** Undefined when it is gone. The bytes are the caller's. */
  async read(id: string): Promise<Uint8Array | undefined> {
    return (await this.#row(id)) ?? (await this.#spool.read(id));
  }

  /** The first bytes of a source; undefined when it is gone. */
  async head(id: string, bytes: number): Promise<Uint8Array | undefined> {
    const raw = await this.#row(id);
    return raw === undefined ? await this.#spool.head(id, bytes) : raw.subarray(0, bytes);
  }

  /** Undefined when it is gone. */
  async place(id: string): Promise<Place | undefined> {
    const bytes = await this.#row(id);
    if (bytes !== undefined) return { bytes };
    return (await this.#spool.head(id, 1)) === undefined ? undefined : { path: this.#spool.pathOf(id) };
  }

  async #row(id: string): Promise<Uint8Array | undefined> {
    const build = () => this.#db.selectFrom('sources').select('raw').where('id', '=', id).compile();
    const { rows } = await executeCached(this.#db, 'mail.source of', [id], build);
    return rows[0]?.raw;
  }

  /** Removes what is not in the database: rows go with those of their messages. */
  async removeFiles(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#spool.remove(id);
  }

  /** Ids of files last written before `time`, in ms since the epoch. */
  listFilesBefore(time: number): Promise<readonly string[]> {
    return this.#spool.listBefore(time);
  }
}
