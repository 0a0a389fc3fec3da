import * as m from '#messages/git-problems';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { StoredFiles, type FileOwner } from '../releases/stored-files.ts';
import type { AttachmentRow } from '../store/issue-relations.ts';
import type { Tables } from '../store/tables.ts';

/** Maximum number of files of an issue or comment. */
export const maxFiles = 50;
/** Maximum size of a file. */
export const maxFileBytes = 512 * 1024 * 1024;

/** Owner of a file: an issue, or one of its comments if `entry` is not 0. */
export interface AttachmentOwner {
  readonly issue: number;
  readonly entry: number;
}

/** Files of issues and comments. */
export class Attachments {
  readonly #context: Pick<Context, 'blobs' | 'clock' | 'commit'>;
  readonly #db: Kysely<Tables>;
  readonly #files: StoredFiles<'issue_attachments'>;

  constructor(context: Pick<Context, 'blobs' | 'clock' | 'commit' | 'db' | 'log'>) {
    this.#context = context;
    this.#db = context.db;
    this.#files = new StoredFiles(context, 'issue_attachments');
  }

  list({ issue, entry }: AttachmentOwner): Promise<AttachmentRow[]> {
    return this.#db
      .selectFrom('issue_attachments')
      .selectAll()
      .where('issue_id', '=', issue)
      .where('entry_id', '=', entry)
      .orderBy('id')
      .execute();
  }

  /** Finds a file with the repository that contains it. */
  async findByUuid(uuid: string): Promise<{ readonly file: AttachmentRow; readonly repository: number } | undefined> {
    const row = await this.#db
      .selectFrom('issue_attachments')
      .innerJoin('issues', 'issues.id', 'issue_attachments.issue_id')
      .selectAll('issue_attachments')
      .select('issues.repository_id as repository')
      .where('uuid', '=', uuid)
      .executeTakeFirst();
    return row && { file: row, repository: row.repository };
  }

  /** @throws Problem `git.too_many` (422), `git.too_large` (413) */
  async attach(owner: FileOwner, { issue, entry }: AttachmentOwner, account: string, name: string, input: Readable) {
    if ((await this.list({ issue, entry })).length >= maxFiles)
      throw new Problem('git.too_many', 422, m.tooManyFiles({ count: maxFiles }));
    const uuid = randomUUID();
    const now = this.#context.clock.now();
    const insert = (transaction: Kysely<Tables>, size: number) =>
      transaction
        .insertInto('issue_attachments')
        .values({ issue_id: issue, entry_id: entry, account, name, size, uuid, downloads: 0, created_at: now })
        .returningAll()
        .executeTakeFirstOrThrow();
    return this.#files.store(this.#files.getKey(owner, uuid), input, insert, maxFileBytes);
  }

  rename(file: AttachmentRow, name: string): Promise<AttachmentRow> {
    return this.#files.rename(file, name);
  }

  remove(owner: FileOwner, file: AttachmentRow): Promise<void> {
    return this.#files.remove(owner, file);
  }

  /** Opens a file for reading and counts the download. */
  async read(owner: FileOwner, file: AttachmentRow): Promise<Readable> {
    return this.#context.blobs.read(await this.#files.recordDownload(owner, file));
  }

  /** Lists the files of an issue including its comments, or of one comment, before it is deleted. */
  async listAll(issue: number, entry?: number): Promise<readonly AttachmentRow[]> {
    const rows = this.#db.selectFrom('issue_attachments').selectAll().where('issue_id', '=', issue);
    return (entry === undefined ? rows : rows.where('entry_id', '=', entry)).execute();
  }

  /** Deletes the files of rows that were deleted. */
  async deleteFiles(owner: FileOwner, files: readonly AttachmentRow[]): Promise<void> {
    await this.#files.deleteBlobs(files.map(({ uuid }) => this.#files.getKey(owner, uuid)));
  }
}

/** Returns the files of comments by the comment ID. */
export async function listAttachments(
  db: Kysely<Tables>,
  entries: readonly number[],
): Promise<ReadonlyMap<number, readonly AttachmentRow[]>> {
  if (entries.length === 0) return new Map();
  const rows = await db
    .selectFrom('issue_attachments')
    .selectAll()
    .where('entry_id', 'in', [...entries])
    .orderBy('id')
    .execute();
  return Map.groupBy(rows, ({ entry_id }) => entry_id);
}
