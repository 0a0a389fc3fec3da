import type { InboxItem } from '../../../../services/contracts/inbox/api.ts';

/**
 * A list, newest first, with rows that came since. A repeat takes the place of the row it repeats and counts on from there;
 * one whose row is not in the list keeps its mark, for the list that has it.
 */
export function withRepeats(came: readonly InboxItem[], list: readonly InboxItem[]): InboxItem[] {
  const grown = new Map([...list].reverse().map((item) => [item.id, item]));
  for (const item of came.toReversed()) {
    const before = item.repeated === undefined ? undefined : grown.get(item.repeated);
    if (before === undefined) {
      grown.set(item.id, item);
      continue;
    }
    grown.delete(before.id);
    const { times, since } = before.repeats ?? { times: 1, since: before.time };
    const { repeated: _, ...rest } = item;
    grown.set(item.id, {
      ...rest,
      repeats: { times: times + (item.repeats?.times ?? 1), since },
      ...(before.repeated !== undefined && { repeated: before.repeated }),
    });
  }
  return [...grown.values()].reverse();
}

/** The list with the counts of repeats as they were read just now, and the rows that it lacks: a run whose newest went has another. */
export function withCounts(list: readonly InboxItem[], read: readonly InboxItem[]): InboxItem[] {
  const now = new Map(read.map((item) => [item.id, item]));
  const counted = list.map((item): InboxItem => {
    const found = now.get(item.id);
    now.delete(item.id);
    if (found === undefined) return item;
    const { repeats: _, ...rest } = item;
    return found.repeats === undefined ? rest : { ...rest, repeats: found.repeats };
  });
  return [...counted, ...now.values()].sort((one, other) => other.id - one.id);
}

/** Whether some of the changed rows may be ones that a row of the list repeats. */
export function touchesRuns(changed: ReadonlySet<number>, list: readonly InboxItem[]): boolean {
  const runs = list.filter(({ repeats }) => repeats !== undefined);
  if (runs.some(({ id }) => changed.has(id))) return true;
  return runs.length > 0 && list.filter(({ id }) => changed.has(id)).length < changed.size;
}
