import { dayAbove } from '../text/format.ts';

/** Items in their order, those of one day together under its name. */
export function byDay<Item>(
  items: readonly Item[],
  timeOf: (item: Item) => number,
  now: number,
): { readonly day: string; readonly items: readonly Item[] }[] {
  const groups: { day: string; items: Item[] }[] = [];
  for (const item of items) {
    const day = dayAbove(timeOf(item), now);
    const last = groups.at(-1);
    if (last?.day === day) last.items.push(item);
    else groups.push({ day, items: [item] });
  }
  return groups;
}
