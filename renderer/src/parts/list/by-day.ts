import { formatDayHeading } from '../text/format.ts';

/** Groups consecutive items by day. */
export function groupByDay<Item>(
  items: readonly Item[],
  getTime: (item: Item) => number,
  now: number,
): { readonly day: string; readonly items: readonly Item[] }[] {
  const groups: { day: string; items: Item[] }[] = [];
  for (const item of items) {
    const day = formatDayHeading(getTime(item), now);
    const last = groups.at(-1);
    if (last?.day === day) last.items.push(item);
    else groups.push({ day, items: [item] });
  }
  return groups;
}
