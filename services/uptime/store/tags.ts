import * as m from '#messages/uptime-problems';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from './tables.ts';

export interface Tag {
  readonly id: number;
  readonly name: string;
  readonly color: string;
}

/** Stores tags. The assignment to monitors is part of the monitor. */
export class Tags {
  readonly #context: Pick<Context, 'db' | 'commit'>;
  readonly #tags = new Map<number, Tag>();

  constructor(context: Pick<Context, 'db' | 'commit'>) {
    this.#context = context;
  }

  get all(): ReadonlyMap<number, Tag> {
    return this.#tags;
  }

  async start(): Promise<void> {
    const db: Kysely<Tables> = this.#context.db;
    const rows = await db.selectFrom('tags').selectAll().orderBy('id').execute();
    this.#tags.clear();
    for (const tag of rows) this.#tags.set(tag.id, tag);
  }

  async add(tag: Omit<Tag, 'id'>): Promise<Tag> {
    const { id } = await this.#context.commit(async (transaction: Kysely<Tables>) =>
      transaction.insertInto('tags').values(tag).returning('id').executeTakeFirstOrThrow(),
    );
    const added = { id, ...tag };
    this.#tags.set(id, added);
    return added;
  }

  /** @throws Problem `uptime.unknown_tag` (404) */
  async change(id: number, tag: Omit<Tag, 'id'>): Promise<Tag> {
    this.#require(id);
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction.updateTable('tags').set(tag).where('id', '=', id).execute();
    });
    const changed = { id, ...tag };
    this.#tags.set(id, changed);
    return changed;
  }

  async remove(id: number): Promise<void> {
    this.#require(id);
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction.deleteFrom('tags').where('id', '=', id).execute();
    });
    this.#tags.delete(id);
  }

  #require(id: number): void {
    if (!this.#tags.has(id)) throw new Problem('uptime.unknown_tag', 404, m.tagNotFound());
  }
}
