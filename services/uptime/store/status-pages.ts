import * as m from '#messages/uptime-problems';
import type { Kysely, Selectable } from 'kysely';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import {
  DomainName,
  StatusPageConfig,
  type PublicGroup,
  type PublicNote,
  type StatusPage,
} from '../../contracts/uptime/status-pages.ts';
import { hashPassword, verifyPasswordHash } from '../../kit/password-hash.ts';
import { formatKumaTime } from '../domain/time-format.ts';
import type { Tables } from './tables.ts';

type Group = PublicGroup & { readonly id: number; readonly weight: number };

/** Status page without its notes. */
export interface StoredPage {
  readonly id: number;
  readonly config: StatusPageConfig;
  readonly groups: readonly Group[];
  /** Hash of the password of the page; null without one. */
  readonly passwordHash: string | null;
}

/** Changes of a note; missing fields are kept. */
export type NoteChange = Partial<Pick<PublicNote, 'title' | 'content' | 'style' | 'active' | 'pin'>>;

export type PastNote = Pick<PublicNote, 'title' | 'content' | 'style' | 'active' | 'pin'> & {
  readonly createdAt?: number | undefined;
};

export interface StatusPageEvents {
  /** Called in the transaction that stores a note. */
  readonly onNote: (transaction: Kysely<Tables>, page: StoredPage, note: PublicNote) => Promise<void>;
  /** Called when pages were loaded, changed or removed. */
  readonly onChange: (pages: readonly StoredPage[]) => void;
}

/** Stores status pages and caches them in memory. */
export class StatusPages {
  readonly #context: Pick<Context, 'db' | 'commit' | 'clock'>;
  readonly #events: StatusPageEvents;
  readonly #pages = new Map<string, StoredPage>();

  constructor(context: Pick<Context, 'db' | 'commit' | 'clock'>, events: StatusPageEvents) {
    this.#context = context;
    this.#events = events;
  }

  async start(): Promise<void> {
    const rows = await this.#db.selectFrom('status_pages').selectAll().orderBy('id').execute();
    this.#pages.clear();
    for (const { id, config, groups, password_hash: passwordHash } of rows) {
      const page = {
        id,
        config: StatusPageConfig.parse(removeInvalidNames(JSON.parse(config))),
        groups: JSON.parse(groups) as Group[],
        passwordHash,
      };
      this.#pages.set(page.config.slug, page);
    }
    this.#events.onChange(this.all());
  }

  all(): readonly StoredPage[] {
    return [...this.#pages.values()];
  }

  find(slug: string): StoredPage | undefined {
    return this.#pages.get(slug.toLowerCase());
  }

  /** Returns the published page with a domain name. */
  findByDomain(host: string): StoredPage | undefined {
    return this.all().find(({ config }) => config.published && config.domainNameList.includes(host.toLowerCase()));
  }

  /** @throws Problem `uptime.unknown_page` (404) */
  get(slug: string): StoredPage {
    const page = this.find(slug);
    if (page === undefined) throw new Problem('uptime.unknown_page', 404, m.statusPageNotFound());
    return page;
  }

  /** Returns the published pages that list a monitor. */
  findPublishedWith(monitor: number): readonly StoredPage[] {
    return this.all().filter(
      ({ config, groups }) =>
        config.published && groups.some(({ monitorList }) => monitorList.some(({ id }) => id === monitor)),
    );
  }

  /** @throws Problem `uptime.taken` (409) */
  async add(slug: string, title: string): Promise<StoredPage> {
    const config = StatusPageConfig.parse({ slug, title });
    this.#assertFreeSlug(config.slug);
    const row = { slug: config.slug, config: JSON.stringify(config), groups: '[]' };
    const { id } = await this.#context.commit(async (transaction: Kysely<Tables>) =>
      transaction.insertInto('status_pages').values(row).returning('id').executeTakeFirstOrThrow(),
    );
    return this.#store({ id, config, groups: [], passwordHash: null });
  }

  /**
   * Changes the named fields; groups are replaced. An undefined password keeps the stored one.
   * @throws Problem `uptime.invalid` (400), `uptime.taken` (409)
   */
  async change(
    slug: string,
    change: Readonly<Record<string, unknown>>,
    groups: readonly PublicGroup[] | undefined,
    password?: string,
  ): Promise<StoredPage> {
    const page = this.get(slug);
    const definedChange = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const parsed = StatusPageConfig.safeParse({ ...page.config, ...definedChange });
    if (!parsed.success) {
      const fields = Object.fromEntries(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]));
      throw new Problem('uptime.invalid', 400, parsed.error.issues[0]?.message ?? m.pageInvalid(), { fields });
    }
    const config = parsed.data;
    if (config.slug !== page.config.slug) this.#assertFreeSlug(config.slug);
    this.#assertFreeNames(page.id, config.domainNameList);
    const passwordHash = password === undefined ? page.passwordHash : await updateHash(password, page.passwordHash);
    if (config.access === 'password' && passwordHash === null) {
      throw new Problem('uptime.invalid', 400, m.pagePasswordMissing(), {
        fields: { password: m.pagePasswordMissing() },
      });
    }
    const nextGroups = groups === undefined ? page.groups : this.#assignGroupIds(groups);
    const next = { id: page.id, config, groups: nextGroups, passwordHash };
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction
        .updateTable('status_pages')
        .set({
          slug: config.slug,
          config: toStorable(config),
          groups: toStorable(nextGroups),
          password_hash: passwordHash,
        })
        .where('id', '=', page.id)
        .execute();
    });
    this.#pages.delete(page.config.slug);
    return this.#store(next);
  }

  async remove(slug: string): Promise<void> {
    const { id, config } = this.get(slug);
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction.deleteFrom('page_notes').where('page_id', '=', id).execute();
      await transaction.deleteFrom('status_pages').where('id', '=', id).execute();
    });
    this.#pages.delete(config.slug);
    this.#events.onChange(this.all());
  }

  async withNotes(page: StoredPage): Promise<StatusPage> {
    const incidents = await this.notes(page, { active: true });
    const { config, id, groups, passwordHash } = page;
    return { ...config, id, hasPassword: passwordHash !== null, publicGroupList: [...groups], incidents };
  }

  /** Lists notes, newest first. */
  async notes(
    { id }: StoredPage,
    options: {
      readonly active?: true;
      readonly before?: string;
      readonly beforeId?: number;
      readonly limit?: number;
    } = {},
  ) {
    const before = options.before === undefined ? undefined : Date.parse(`${options.before.replace(' ', 'T')}Z`);
    const rows = await this.#db
      .selectFrom('page_notes')
      .selectAll()
      .where('page_id', '=', id)
      .$if(options.active === true, (query) => query.where('active', '=', 1).where('pin', '=', 1))
      .$if(before !== undefined && !Number.isNaN(before), (query) => query.where('created_at', '<', before ?? 0))
      .$if(options.beforeId !== undefined, (query) => query.where('id', '<', options.beforeId ?? 0))
      .orderBy('id', 'desc')
      .limit(options.limit ?? 100)
      .execute();
    return rows.map(toNoteView);
  }

  async countNotes({ id }: StoredPage): Promise<number> {
    const { count } = await this.#db
      .selectFrom('page_notes')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('page_id', '=', id)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  async addNote(page: StoredPage, note: Pick<PublicNote, 'title' | 'content' | 'style'>): Promise<PublicNote> {
    const row = {
      ...toCleanCopy(note),
      page_id: page.id,
      pin: 1 as const,
      active: 1 as const,
      created_at: this.#context.clock.now(),
    };
    return this.#context.commit(async (transaction: Kysely<Tables>) => {
      const stored = await transaction.insertInto('page_notes').values(row).returningAll().executeTakeFirstOrThrow();
      const noteView = toNoteView(stored);
      await this.#events.onNote(transaction, page, noteView);
      return noteView;
    });
  }

  /** Adds an imported note without notifying followers. */
  async addPastNote(page: StoredPage, note: PastNote): Promise<void> {
    const { pin, active, createdAt, ...fields } = note;
    const row = {
      ...toCleanCopy(fields),
      page_id: page.id,
      pin: toBit(pin),
      active: toBit(active),
      created_at: createdAt ?? this.#context.clock.now(),
    };
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction.insertInto('page_notes').values(row).execute();
    });
  }

  /** @throws Problem `uptime.unknown_note` (404) */
  async changeNote(page: StoredPage, id: number, change: NoteChange): Promise<PublicNote> {
    const { active, pin, ...rest } = change;
    const set = {
      ...toCleanCopy(rest),
      ...(active === undefined ? {} : { active: toBit(active) }),
      ...(pin === undefined ? {} : { pin: toBit(pin) }),
      updated_at: this.#context.clock.now(),
    };
    const row = await this.#context.commit(async (transaction: Kysely<Tables>) =>
      transaction
        .updateTable('page_notes')
        .set(set)
        .where('id', '=', id)
        .where('page_id', '=', page.id)
        .returningAll()
        .executeTakeFirst(),
    );
    if (row === undefined) throw unknownNote();
    return toNoteView(row);
  }

  /** Unpins all notes of a page. */
  async unpin({ id }: StoredPage): Promise<void> {
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction.updateTable('page_notes').set({ pin: 0 }).where('page_id', '=', id).execute();
    });
  }

  async removeNote(page: StoredPage, id: number): Promise<void> {
    const row = await this.#context.commit(async (transaction: Kysely<Tables>) =>
      transaction
        .deleteFrom('page_notes')
        .where('id', '=', id)
        .where('page_id', '=', page.id)
        .returning('id')
        .executeTakeFirst(),
    );
    if (row === undefined) throw unknownNote();
  }

  get #db(): Kysely<Tables> {
    return this.#context.db;
  }

  #store(page: StoredPage): StoredPage {
    this.#pages.set(page.config.slug, page);
    this.#events.onChange(this.all());
    return page;
  }

  #assertFreeSlug(slug: string): void {
    if (this.#pages.has(slug)) throw new Problem('uptime.taken', 409, m.slugTaken());
  }

  #assertFreeNames(id: number, names: readonly string[]): void {
    const takenName = names.find((name) =>
      this.all().some((page) => page.id !== id && page.config.domainNameList.includes(name)),
    );
    if (takenName === undefined) return;
    throw new Problem('uptime.taken', 409, m.domainNameTakenNamed({ name: takenName }), {
      fields: { domainNameList: m.domainNameTaken() },
    });
  }

  /** Assigns unused IDs to new groups. */
  #assignGroupIds(groups: readonly PublicGroup[]): Group[] {
    let next = Math.max(0, ...this.all().flatMap((page) => page.groups.map(({ id }) => id)));
    next = Math.max(next, ...groups.map(({ id }) => id ?? 0));
    return groups.map((group, index) => ({ ...group, id: group.id ?? (next += 1), weight: index + 1 }));
  }
}

/** Returns the hash of a password. The hash of an unchanged password is kept, so that visitors stay signed in. */
async function updateHash(password: string, existing: string | null): Promise<string> {
  if (existing !== null && (await verifyPasswordHash(password, existing))) return existing;
  return hashPassword(password);
}

function toNoteView(row: Selectable<Tables['page_notes']>): PublicNote {
  const { id, style, title, content, pin, active, created_at, updated_at, page_id } = row;
  const formatTime = (timestamp: number): string => formatKumaTime(timestamp).slice(0, 19);
  return {
    ...{ id, style, title, content },
    pin: pin === 1,
    active: active === 1,
    createdDate: formatTime(created_at),
    lastUpdatedDate: updated_at === null ? null : formatTime(updated_at),
    status_page_id: page_id,
  };
}

function unknownNote(): Problem {
  return new Problem('uptime.unknown_note', 404, m.noteNotFound());
}

function toBit(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}

function toCleanCopy<T extends object>(value: T): T {
  return JSON.parse(toStorable(value)) as T;
}

function toStorable(value: unknown): string {
  return JSON.stringify(value).replaceAll('\\u0000', '\\ufffd');
}

/** Removes domain names that an earlier version accepted and that are no longer valid. */
function removeInvalidNames(stored: unknown): unknown {
  const page = z.looseObject({ domainNameList: z.array(z.unknown()).optional() }).parse(stored);
  return { ...page, domainNameList: page.domainNameList?.filter((name) => DomainName.safeParse(name).success) };
}
