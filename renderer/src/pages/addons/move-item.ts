/** Takes an item of a list to another place in it. */
export function moved<Item>(list: Item[], from: number, to: number): void {
  const taken = list.splice(from, 1);
  list.splice(to, 0, ...taken);
}
