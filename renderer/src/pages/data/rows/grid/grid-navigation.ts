/** Cell of the grid. Row -1 is the header; column -1 selects and opens the row. */
export interface GridPosition {
  readonly row: number;
  readonly column: number;
}

/** Size of the grid. */
export interface GridSize {
  readonly rows: number;
  readonly columns: number;
  /** Rows on one page. */
  readonly pageRows: number;
  /** There is a column that selects and opens rows. */
  readonly hasLead: boolean;
}

/** Pressed key with its modifiers. */
type GridKey = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey'>;

/**
 * Returns the cell that a key moves to, as in the grid pattern of the ARIA Authoring Practices; undefined for other
 * keys.
 */
export function getNextPosition(
  { row, column }: GridPosition,
  { key, ctrlKey, metaKey }: GridKey,
  size: GridSize,
): GridPosition | undefined {
  const isFar = ctrlKey || metaKey;
  const [firstColumn, lastColumn, lastRow] = [size.hasLead ? -1 : 0, size.columns - 1, size.rows - 1];
  const clamp = (next: GridPosition): GridPosition => ({
    row: Math.max(-1, Math.min(next.row, lastRow)),
    // The header has no cell to select rows.
    column: Math.max(next.row < 0 ? 0 : firstColumn, Math.min(next.column, lastColumn)),
  });
  switch (key) {
    case 'ArrowUp':
      return clamp({ row: isFar ? 0 : row - 1, column });
    case 'ArrowDown':
      return clamp({ row: isFar ? lastRow : row + 1, column });
    case 'ArrowLeft':
      return clamp({ row, column: isFar ? firstColumn : column - 1 });
    case 'ArrowRight':
      return clamp({ row, column: isFar ? lastColumn : column + 1 });
    case 'Home':
      return clamp({ row: isFar ? 0 : row, column: firstColumn });
    case 'End':
      return clamp({ row: isFar ? lastRow : row, column: lastColumn });
    case 'PageUp':
      return clamp({ row: Math.max(0, row - size.pageRows), column });
    case 'PageDown':
      return clamp({ row: row + size.pageRows, column });
    default:
      return undefined;
  }
}

/** Returns the cell after an edited one: below it for Enter, beside it for Tab. */
export function getPositionAfterEdit(
  { row, column }: GridPosition,
  move: 'down' | 'next' | 'previous' | 'stay',
  { rows, columns }: Pick<GridSize, 'rows' | 'columns'>,
): GridPosition {
  if (move === 'down') return { row: Math.min(row + 1, rows - 1), column };
  if (move === 'next') {
    if (column < columns - 1) return { row, column: column + 1 };
    return row < rows - 1 ? { row: row + 1, column: 0 } : { row, column };
  }
  if (move === 'previous') {
    if (column > 0) return { row, column: column - 1 };
    return row > 0 ? { row: row - 1, column: columns - 1 } : { row, column };
  }
  return { row, column };
}
