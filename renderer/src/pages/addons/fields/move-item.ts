/** Moves an item of a list to another index, in place. */
export function moveItem<Item>(list: Item[], from: number, to: number): void {
  const items = list.splice(from, 1);
  list.splice(to, 0, ...items);
}
