/** Position of a row that a virtual list renders. */
export interface RowPosition {
  readonly index: number;
  /** Distance in px between the row and the top of the list. */
  readonly start: number;
  /** Height in px. */
  readonly size: number;
}

/** Row that a virtual list renders. */
export interface VisibleRow<Item> extends RowPosition {
  readonly item: Item;
}

/**
 * Returns the rows at these positions. A row that did not change is the same object as before: Svelte updates each row
 * whose object is a new one, so that every scroll step would otherwise run the effects of all visible rows.
 *
 * @param previous - The rows that were returned before.
 * @param items - All items of the list, which may have become shorter since the positions were calculated.
 */
export function buildVisibleRows<Item>(
  previous: readonly VisibleRow<Item>[],
  items: readonly Item[],
  positions: readonly RowPosition[],
): readonly VisibleRow<Item>[] {
  const previousRows = new Map(previous.map((row) => [row.index, row]));
  return positions.flatMap(({ index, start, size }) => {
    const item = items[index];
    if (item === undefined) return [];
    const existing = previousRows.get(index);
    const isUnchanged = existing?.item === item && existing.start === start && existing.size === size;
    return [isUnchanged ? existing : { item, index, start, size }];
  });
}
