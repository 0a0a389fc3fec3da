import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { AssetRow, ReleaseRow } from '../store/repository-relations.ts';
import type { Tables } from '../store/tables.ts';
import { StoredFiles } from './stored-files.ts';

type Owner = Pick<Repository, 'id' | 'folder'>;
export type ReleaseValues = Pick<ReleaseRow, 'tag' | 'target' | 'title' | 'body' | 'draft' | 'prerelease'>;

/** Releases of repositories with their files. */
export class Releases {
  readonly #context: Pick<Context, 'blobs' | 'clock' | 'commit'>;
  readonly #db: Kysely<Tables>;
  readonly #files: StoredFiles<'release_assets'>;

  constructor(context: Pick<Context, 'blobs' | 'clock' | 'commit' | 'db' | 'log'>) {
    this.#context = context;
    this.#db = context.db;
    this.#files = new StoredFiles(context, 'release_assets');
  }

  /** Lists releases, newest first. */
  list(repository: number, { drafts }: { readonly drafts: boolean }): Promise<ReleaseRow[]> {
    const rows = this.#db.selectFrom('releases').selectAll().where('repository_id', '=', repository);
    return (drafts ? rows : rows.where('draft', '=', 0)).orderBy('created_at', 'desc').orderBy('id', 'desc').execute();
  }

  /** Returns the latest published release that is not a prerelease. */
  async findLatest(repository: number): Promise<ReleaseRow | undefined> {
    return (await this.list(repository, { drafts: false })).find(({ prerelease }) => prerelease === 0);
  }

  findByTag(repository: number, tag: string): Promise<ReleaseRow | undefined> {
    return this.#db
      .selectFrom('releases')
      .selectAll()
      .where('repository_id', '=', repository)
      .where('tag', '=', tag)
      .executeTakeFirst();
  }

  /**
   * Creates a release.
   * @throws Problem `git.release_taken` (409) with Gitea's message
   */
  async create(repository: number, values: ReleaseValues, author: string): Promise<ReleaseRow> {
    const now = this.#context.clock.now();
    const row = await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('releases')
        .values({ repository_id: repository, ...values, author, created_at: now, published_at: now })
        .onConflict((conflict) => conflict.columns(['repository_id', 'tag']).doNothing())
        .returningAll()
        .executeTakeFirst(),
    );
    if (row === undefined) throw new Problem('git.release_taken', 409, 'Release is has no Tag');
    return row;
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
    await this.#files.deleteBlobs(assets.map(({ uuid }) => this.getKey(repository, uuid)));
  }

  assets(release: number): Promise<AssetRow[]> {
    return this.#db.selectFrom('release_assets').selectAll().where('release_id', '=', release).orderBy('id').execute();
  }

  /** Finds an asset with the repository that contains it. */
  async findByUuid(uuid: string): Promise<{ readonly asset: AssetRow; readonly repository: number } | undefined> {
    const row = await this.#db
      .selectFrom('release_assets')
      .innerJoin('releases', 'releases.id', 'release_assets.release_id')
      .selectAll('release_assets')
      .select('releases.repository_id as repository')
      .where('uuid', '=', uuid)
      .executeTakeFirst();
    return row && { asset: row, repository: row.repository };
  }

  /** Stores a file. If it rejects, nothing is stored. */
  async attach(repository: Owner, release: ReleaseRow, name: string, input: Readable): Promise<AssetRow> {
    const uuid = randomUUID();
    return this.#files.store(this.getKey(repository, uuid), input, (transaction, size) =>
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

  /** Opens an asset for reading and counts the download. */
  async read(repository: Owner, asset: AssetRow): Promise<Readable> {
    return this.#context.blobs.read(await this.recordDownload(repository, asset));
  }

  /** Returns the key of an asset for sending and counts the download. */
  recordDownload(repository: Owner, asset: AssetRow): Promise<string> {
    return this.#files.recordDownload(repository, asset);
  }

  /** Returns the key of a file among the service's blobs. */
  getKey(repository: Owner, uuid: string): string {
    return this.#files.getKey(repository, uuid);
  }
}
