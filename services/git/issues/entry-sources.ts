import type { Kysely } from 'kysely';
import type { Caller } from '../sign-in/caller.ts';
import type { Access } from '../repositories/access.ts';
import type { Repositories, Repository } from '../repositories/repositories.ts';
import type { EntryDetails, EntryRow } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import { fromOtherRepository } from './writer.ts';

/** Entries of a timeline that a caller may see, with the other repositories that they come from. */
export interface VisibleEntries<Entry> {
  readonly entries: readonly Entry[];
  /** Other repositories by ID. */
  readonly sources: ReadonlyMap<number, Repository>;
}

interface SourceDependencies {
  readonly access: Access;
  readonly repositories: Pick<Repositories, 'findById'>;
}

/**
 * Returns the IDs of the entries of an issue that come from repositories the caller may not read, so that a count does not
 * reveal them, and the other repositories by ID.
 */
export async function findHiddenEntries(
  dependencies: SourceDependencies,
  db: Kysely<Tables>,
  caller: Caller,
  issue: number,
): Promise<{ readonly hiddenIds: readonly number[]; readonly sources: ReadonlyMap<number, Repository> }> {
  const rows = await db
    .selectFrom('issue_entries')
    .select(['id', 'details'])
    .where('issue_id', '=', issue)
    .where('details', 'like', fromOtherRepository)
    .execute();
  const { entries, sources } = await withoutHiddenSources(dependencies, caller, rows);
  const visibleIds = new Set(entries.map(({ id }) => id));
  return { hiddenIds: rows.map(({ id }) => id).filter((id) => !visibleIds.has(id)), sources };
}

/** Leaves out entries that come from other repositories, unless the caller may read them. */
export async function withoutHiddenSources<Entry extends Pick<EntryRow, 'details'>>(
  { access, repositories }: SourceDependencies,
  caller: Caller,
  entries: readonly Entry[],
): Promise<VisibleEntries<Entry>> {
  const getSource = ({ details }: Entry): number | undefined => (JSON.parse(details) as EntryDetails).repository;
  const ids = new Set(entries.flatMap((entry) => getSource(entry) ?? []));
  const sources = new Map<number, Repository>();
  for (const id of ids) {
    const repository = await repositories.findById(id);
    if (repository !== undefined && (await access.hasLevel(caller, repository, 'read'))) sources.set(id, repository);
  }
  const isVisible = (entry: Entry): boolean => {
    const source = getSource(entry);
    return source === undefined || sources.has(source);
  };
  return { entries: entries.filter(isVisible), sources };
}
