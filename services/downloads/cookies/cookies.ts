import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import type { DownloadCookies } from '../../contracts/downloads/cookies.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { readCookieFile } from './netscape.ts';

interface Tables {
  downloads_cookies: { id: number; sealed: string; sites: string; count: number; uploaded_at: number };
}

/** Temporary file with the cookies for one run of the extractor. Disposal removes it. */
export interface CookieFileLease extends AsyncDisposable {
  /** Undefined without cookies. */
  readonly path: string | undefined;
}

const purpose = 'downloads.cookies';
const noCookies: DownloadCookies = { present: false, count: 0, sites: [], uploadedAt: null };

/**
 * Cookies for sites that require a sign-in. They are sealed in the database and in plain text only in a file of mode
 * 0600 while an extractor runs. Each run gets a separate copy, and its changes are dropped: parallel runs would
 * overwrite each other's, and the exported cookies stay unchanged until the next upload.
 */
export class Cookies {
  readonly #context: Context;
  readonly #folder: string;
  readonly #file: () => unknown;

  /** @param file Returns the path of a cookies.txt from the settings, which is used when none was uploaded. */
  constructor(context: Context, file: () => unknown = () => undefined) {
    this.#context = context;
    this.#file = file;
    this.#folder = join(context.files, 'lent');
  }

  /** Removes files that a crash left behind. */
  async start(): Promise<void> {
    await removeTree(this.#folder);
  }

  async status(): Promise<DownloadCookies> {
    const row = await this.#db()
      .selectFrom('downloads_cookies')
      .select(['sites', 'count', 'uploaded_at'])
      .executeTakeFirst();
    if (row === undefined) return noCookies;
    const sites = JSON.parse(row.sites) as string[];
    return { present: true, count: row.count, sites, uploadedAt: Number(row.uploaded_at) };
  }

  /**
   * Replaces the stored cookies.
   * @throws Problem `downloads.bad_cookies` (400)
   */
  async replace(content: string): Promise<DownloadCookies> {
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

  /** Returns false when there were no cookies. */
  async remove(): Promise<boolean> {
    const removed = await this.#context.commit(
      async (db) => await (db as Kysely<Tables>).deleteFrom('downloads_cookies').executeTakeFirst(),
    );
    return removed.numDeletedRows > 0n;
  }

  async acquire(): Promise<CookieFileLease> {
    const row = await this.#db().selectFrom('downloads_cookies').select('sealed').executeTakeFirst();
    const text = row === undefined ? await this.#readConfiguredFile() : this.#context.vault.open(row.sealed, purpose);
    if (text === undefined) return { path: undefined, [Symbol.asyncDispose]: async () => await Promise.resolve() };
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, `${this.#context.random.text(16)}.txt`);
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    // Set again because the umask may have changed the mode.
    await chmod(path, 0o600);
    return { path, [Symbol.asyncDispose]: async () => await rm(path, { force: true }) };
  }

  async #readConfiguredFile(): Promise<string | undefined> {
    const file = this.#file();
    if (typeof file !== 'string' || file === '') return undefined;
    try {
      return readCookieFile(await readFile(file, 'utf8')).text;
    } catch (error) {
      const reason = error instanceof Problem ? error.message : 'not readable';
      this.#context.log.warn('cookie file of the options ignored', { file, reason });
      return undefined;
    }
  }

  #db(): Kysely<Tables> {
    return this.#context.db as Kysely<Tables>;
  }
}
