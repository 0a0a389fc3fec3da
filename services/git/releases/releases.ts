import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { AssetRow, ReleaseRow } from '../store/rest.ts';
import type { Tables } from '../store/tables.ts';
import { StoredFiles } from './stored-files.ts';

type Owner = Pick<Repository, 'id' | 'folder'>;
export type ReleaseValues = Pick<ReleaseRow, 'tag' | 'target' | 'title' | 'body' | 'draft' | 'prerelease'>;

/** Releases of repositories, and the files that come with them. */
export class Releases {
  readonly #context: Pick<Context, 'clock' | 'commit' | 'files'>;
  readonly #db: Kysely<Tables>;
  readonly #files: StoredFiles<'release_assets'>;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'files'>) {
    this.#context = context;
    this.#db = context.db;
    this.#files = new StoredFiles(context, 'release_assets');
  }

  /** The newest first. */
  list(repository: number, { drafts }: { readonly drafts: boolean }): Promise<ReleaseRow[]> {
    const rows = this.#db.selectFrom('releases').selectAll().where('repository_id', '=', repository);
    return (drafts ? rows : rows.where('draft', '=', 0)).orderBy('created_at', 'desc').orderBy('id', 'desc').execute();
  }

  /** Returns the latest published release that is not a prerelease. */
  async latest(repository: number): Promise<ReleaseRow | undefined> {
    return (await this.list(repository, { drafts: false })).find(({ prerelease }) => prerelease === 0);
  }

  byTag(repository: number, tag: string): Promise<ReleaseRow | undefined> {
    return this.#db
      .selectFrom('releases')
      .selectAll()
      .where('repository_id', '=', repository)
      .where('tag', '=', tag)
      .executeTakeFirst();
  }

  /** @throws Problem `git.release_taken` (409) in the peer's words */
  async create(repository: number, values: ReleaseValues, author: string): Promise<ReleaseRow> {
    const now = this.#context.clock.now();
    const made = await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('releases')
        .values({ repository_id: repository, ...values, author, created_at: now, published_at: now })
        .onConflict((conflict) => conflict.columns(['repository_id', 'tag']).doNothing())
        .returningAll()
        .executeTakeFirst(),
    );
    if (made === undefined) throw new Problem('git.release_taken', 409, 'Release is has no Tag');
    return made;
  }

  async change(
    { id }: ReleaseRow,
    values: Partial<ReleaseValues & Pick<ReleaseRow, 'published_at'>>,
  ): Promise<ReleaseRow> {
    return this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.updateTable('releases').set(values).where('id', '=', id).returningAll().executeTakeFirstOrThrow(),
    );
  }

  async remove(repository: Owner, release: ReleaseRow): Promise<void> {
    const assets = await this.assets(release.id);
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom('releases').where('id', '=', release.id).execute(),
    );
    for (const { uuid } of assets) await rm(this.path(repository, uuid), { force: true });
  }

  assets(release: number): Promise<AssetRow[]> {
    return this.#db.selectFrom('release_assets').selectAll().where('release_id', '=', release).orderBy('id').execute();
  }

  /** With the repository that it belongs to. */
  async byUuid(uuid: string): Promise<{ readonly asset: AssetRow; readonly repository: number } | undefined> {
    const row = await this.#db
      .selectFrom('release_assets')
      .innerJoin('releases', 'releases.id', 'release_assets.release_id')
      .selectAll('release_assets')
      .select('releases.repository_id as repository')
      .where('uuid', '=', uuid)
      .executeTakeFirst();
    return row && { asset: row, repository: row.repository };
  }

  /** Takes a file in; when this rejects nothing of it remains. */
  async attach(repository: Owner, release: ReleaseRow, name: string, input: Readable): Promise<AssetRow> {
    const uuid = randomUUID();
    const path = this.path(repository, uuid);
    return this.#files.take(path, input, (transaction, size) =>
      transaction
        .insertInto('release_assets')
        .values({ release_id: release.id, name, size, uuid, downloads: 0, created_at: this.#context.clock.now() })
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  }

  rename(asset: AssetRow, name: string): Promise<AssetRow> {
    return this.#files.rename(asset, name);
  }

  detach(repository: Owner, asset: AssetRow): Promise<void> {
    return this.#files.remove(repository, asset);
  }

  /** Its bytes; the download is counted. */
  async read(repository: Owner, asset: AssetRow): Promise<Readable> {
    return createReadStream(await this.fetched(repository, asset));
  }

  /** Where its bytes lie, for who sends them; the download is counted. */
  fetched(repository: Owner, asset: AssetRow): Promise<string> {
    return this.#files.fetched(repository, asset);
  }

  /** Where the bytes of a file lie. */
  path(repository: Owner, uuid: string): string {
    return this.#files.path(repository, uuid);
  }
}
