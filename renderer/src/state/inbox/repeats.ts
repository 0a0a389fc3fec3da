import type { InboxItem } from '../../../../services/contracts/inbox/api.ts';

/**
 * Merges new rows into a list, newest first. A repeat replaces the row that it repeats and continues its count; a
 * repeat of a row that is not in the list keeps its reference.
 */
export function mergeRepeats(arrived: readonly InboxItem[], list: readonly InboxItem[]): InboxItem[] {
  const merged = new Map([...list].reverse().map((item) => [item.id, item]));
  for (const item of arrived.toReversed()) {
    const repeatedRow = item.repeated === undefined ? undefined : merged.get(item.repeated);
    if (repeatedRow === undefined) {
      merged.set(item.id, item);
      continue;
    }
    merged.delete(repeatedRow.id);
    const { times, since } = repeatedRow.repeats ?? { times: 1, since: repeatedRow.time };
    const { repeated: _, ...rest } = item;
    merged.set(item.id, {
      ...rest,
      repeats: { times: times + (item.repeats?.times ?? 1), since },
      ...(repeatedRow.repeated !== undefined && { repeated: repeatedRow.repeated }),
    });
  }
  return [...merged.values()].reverse();
}

/**
 * Applies current counts of repeats to a list and adds missing rows: a group whose newest row was removed has a new
 * one.
 */
export function applyCounts(list: readonly InboxItem[], loaded: readonly InboxItem[]): InboxItem[] {
  const loadedById = new Map(loaded.map((item) => [item.id, item]));
  const updated = list.map((item): InboxItem => {
    const current = loadedById.get(item.id);
    loadedById.delete(item.id);
    if (current === undefined) return item;
    const { repeats: _, ...rest } = item;
    return current.repeats === undefined ? rest : { ...rest, repeats: current.repeats };
  });
  return [...updated, ...loadedById.values()].sort((first, second) => second.id - first.id);
}

/** True when changed rows may be ones that a row of the list repeats. */
export function affectsRepeats(changed: ReadonlySet<number>, list: readonly InboxItem[]): boolean {
  const repeating = list.filter(({ repeats }) => repeats !== undefined);
  if (repeating.some(({ id }) => changed.has(id))) return true;
  return repeating.length > 0 && list.filter(({ id }) => changed.has(id)).length < changed.size;
}
