import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import type { DownloadCookies } from '../../contracts/downloads/cookies.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { readCookieFile } from './netscape.ts';

interface Tables {
  downloads_cookies: { id: number; sealed: string; sites: string; count: number; uploaded_at: number };
}

/** A file with the cookies for one run of the extractor; its disposal removes it. */
export interface LentCookies extends AsyncDisposable {
  /** Undefined: there are none. */
  readonly path: string | undefined;
}

const purpose = 'downloads.cookies';
const none: DownloadCookies = { present: false, count: 0, sites: [], uploadedAt: null };

/**
 * Cookies for sites that ask for a sign-in: sealed in the database, in plain only in a file of mode 0600 while an
 * extractor runs. Each run has a copy of its own, and what it writes back to that is dropped: runs side by side would
 * overwrite each other's, and what a person exported stays what it is until he exports anew.
 */
export class Cookies {
  readonly #context: Context;
  readonly #folder: string;
  readonly #file: () => unknown;

  /** `file` names a cookies.txt of the owner's, which stands in where none was uploaded. */
  constructor(context: Context, file: () => unknown = () => undefined) {
    this.#context = context;
    this.#file = file;
    this.#folder = join(context.files, 'lent');
  }

  /** Removes what a crash has left behind. */
  async start(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async status(): Promise<DownloadCookies> {
    const row = await this.#db()
      .selectFrom('downloads_cookies')
      .select(['sites', 'count', 'uploaded_at'])
      .executeTakeFirst();
    if (row === undefined) return none;
    const sites = JSON.parse(row.sites) as string[];
    return { present: true, count: row.count, sites, uploadedAt: Number(row.uploaded_at) };
  }

  /** Takes the place of what was there. @throws Problem `downloads.bad_cookies` (400) */
  async take(content: string): Promise<DownloadCookies> {
    const { text, count, sites } = readCookieFile(content);
    const { vault, clock } = this.#context;
    const values = { sealed: vault.seal(text, purpose), sites: JSON.stringify(sites), count, uploaded_at: clock.now() };
    await this.#context.commit(async (db) => {
      await (db as Kysely<Tables>)
        .insertInto('downloads_cookies')
        .values({ id: 1, ...values })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute();
    });
    return await this.status();
  }

  /** False: there were none. */
  async remove(): Promise<boolean> {
    const removed = await this.#context.commit(
      async (db) => await (db as Kysely<Tables>).deleteFrom('downloads_cookies').executeTakeFirst(),
    );
    return removed.numDeletedRows > 0n;
  }

  async lend(): Promise<LentCookies> {
    const row = await this.#db().selectFrom('downloads_cookies').select('sealed').executeTakeFirst();
    const text = row === undefined ? await this.#ofTheOwner() : this.#context.vault.open(row.sealed, purpose);
    if (text === undefined) return { path: undefined, [Symbol.asyncDispose]: async () => await Promise.resolve() };
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, `${this.#context.random.text(16)}.txt`);
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    // Whatever the umask is.
    await chmod(path, 0o600);
    return { path, [Symbol.asyncDispose]: async () => await rm(path, { force: true }) };
  }

  async #ofTheOwner(): Promise<string | undefined> {
    const file = this.#file();
    if (typeof file !== 'string' || file === '') return undefined;
    try {
      return readCookieFile(await readFile(file, 'utf8')).text;
    } catch (error) {
      const reason = error instanceof Problem ? error.detail : 'it cannot be read';
      this.#context.log.warn('the cookies of the option cookiefile are not used', { file, reason });
      return undefined;
    }
  }

  #db(): Kysely<Tables> {
    return this.#context.db as Kysely<Tables>;
  }
}
