import * as m from '#messages/data-rows';
import { tick } from 'svelte';
import type { DataColumn } from '../../../../../../services/contracts/data/rows.ts';
import { toasts } from '../../../../state/toasts.svelte.ts';
import { maxListedLength, type CellEdits } from '../cell-edits.svelte.ts';
import { getNextPosition, getPositionAfterEdit, type GridPosition, type GridSize } from './grid-navigation.ts';
import type { CellValue, Rows, Values } from '../rows.svelte.ts';
import { acceptsTyping, getEditorKind } from '../values/value-editors.ts';

/** Visible part of the table. */
interface GridView {
  /** Visible columns in display order, and their indexes in the rows. */
  readonly columns: readonly DataColumn[];
  readonly order: readonly number[];
  readonly size: GridSize;
  /** Height of a row, px. */
  readonly rowHeight: number;
}

/** Cell that is being edited. */
interface Editing {
  readonly position: GridPosition;
  readonly key: Values;
  readonly column: DataColumn;
  readonly before: string | null;
  readonly initialText: string;
  readonly message: string;
  readonly anchor: HTMLElement;
}

/** Returns the cell that contains an element. */
export function getCellPosition(target: EventTarget | null): GridPosition | undefined {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[data-column]') : null;
  return cell === null ? undefined : { row: Number(cell.dataset['row']), column: Number(cell.dataset['column']) };
}

/** Focus and editor of the grid. */
export class GridController {
  /** The cell that Tab focuses; it is rendered also while it is scrolled out of view. */
  active = $state.raw<GridPosition>({ row: 0, column: 0 });
  editing = $state.raw<Editing>();
  /** The scrolling element. */
  frame = $state<HTMLElement>();
  readonly #rows: Rows;
  readonly #edits: CellEdits;
  readonly #getView: () => GridView;
  /** Cell that is edited once it gets the focus back from a menu. */
  #pendingEdit: GridPosition | undefined;

  constructor(rows: Rows, edits: CellEdits, getView: () => GridView) {
    this.#rows = rows;
    this.#edits = edits;
    this.#getView = getView;
  }

  /** Reason why the cells of a column cannot be edited; empty if they can. */
  getReadOnlyReason(column: DataColumn): string {
    if (this.#rows.isView) return m.viewIsReadOnly();
    if (!this.#rows.hasKey) return m.thisTableHasNoPrimary();
    return column.isGenerated ? m.columnIsGenerated({ name: column.name }) : '';
  }

  /** Opens the editor when the cell gets the focus, such as from a menu that closes. */
  editOnFocus(position: GridPosition): void {
    this.#pendingEdit = position;
  }

  /** A cell got the focus. */
  handleFocus(position: GridPosition): void {
    this.active = position;
    const pending = this.#pendingEdit;
    this.#pendingEdit = undefined;
    if (pending?.row === position.row && pending.column === position.column) void this.edit(position);
  }

  /** Handles a key press on a cell. Returns true if it was used. */
  press(event: KeyboardEvent): boolean {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (altKey || event.isComposing) return false;
    if ((ctrlKey || metaKey) && key.toLowerCase() === 'z') return this.#edits.undoLatest();
    const next = getNextPosition(this.active, event, this.#getView().size);
    if (next !== undefined) {
      void this.moveTo(next);
      return true;
    }
    // The header and the column of the row actions have buttons of their own.
    if (this.active.row < 0 || this.active.column < 0 || ctrlKey || metaKey) return false;
    if (key === 'Enter' || key === 'F2') {
      void this.edit(this.active);
      return true;
    }
    if (key === 'Escape') return this.#discardFailed();
    const column = this.#getView().columns[this.active.column];
    if (key.length !== 1 || key === ' ' || column === undefined || !acceptsTyping(getEditorKind(column))) return false;
    void this.edit(this.active, key);
    return true;
  }

  /** Focuses a cell and scrolls it into view. */
  async moveTo(position: GridPosition): Promise<void> {
    this.active = position;
    const { frame } = this;
    const { rowHeight } = this.#getView();
    if (frame !== undefined && position.row >= 0) {
      const [top, visibleHeight] = [position.row * rowHeight, frame.clientHeight - this.#getHeaderHeight()];
      if (top < frame.scrollTop) frame.scrollTop = top;
      else if (top + rowHeight > frame.scrollTop + visibleHeight) frame.scrollTop = top + rowHeight - visibleHeight;
    }
    await tick();
    const cell = this.findCell(position);
    cell?.focus({ preventScroll: true });
    if (cell !== undefined && frame !== undefined) revealSideways(cell, frame);
  }

  /** Returns the element of a cell; that of the row while its values are loading. */
  findCell({ row, column }: GridPosition): HTMLElement | undefined {
    const selector = `[data-row="${String(row)}"]`;
    const cell = this.frame?.querySelector<HTMLElement>(`${selector}[data-column="${String(column)}"]`);
    return cell ?? this.frame?.querySelector<HTMLElement>(selector) ?? undefined;
  }

  /**
   * Opens the editor of a cell.
   *
   * @param typed character that replaces the value
   */
  async edit(position: GridPosition, typed?: string): Promise<void> {
    const { columns, order } = this.#getView();
    const [column, row] = [columns[position.column], this.#rows.getRow(position.row)];
    if (column === undefined || row === undefined) return;
    const reason = this.getReadOnlyReason(column);
    if (reason !== '') return void toasts.show(reason);
    const key = this.#rows.getKey(row);
    const edit = this.#edits.find(key, column.name);
    if (edit?.state === 'saving') return;
    try {
      const before = edit?.before ?? (await this.#readValue(key, column, row[order[position.column] ?? -1] ?? null));
      const rejected = edit?.value.kind === 'value' ? edit.value.text : undefined;
      const anchor = this.findCell(position);
      if (anchor === undefined) return;
      this.active = position;
      const initialText = typed ?? rejected ?? before ?? '';
      this.editing = { position, key, column, before, initialText, message: edit?.message ?? '', anchor };
    } catch (error) {
      toasts.showError(error);
    }
  }

  /** Saves the value of the editor and moves the focus. */
  finish(value: CellValue, move: 'down' | 'next' | 'previous' | 'stay'): void {
    const { editing } = this;
    if (editing === undefined) return;
    this.editing = undefined;
    const { key, column, before, position } = editing;
    const edit = this.#edits.find(key, column.name);
    if (value.kind === 'default' || value.text !== before) void this.#edits.save(key, column.name, value, before);
    else if (edit !== undefined) this.#edits.discard(edit);
    if (move === 'stay') void this.#restoreFocus();
    else void this.moveTo(getPositionAfterEdit(position, move, this.#getView().size));
  }

  cancel(): void {
    this.editing = undefined;
    void this.moveTo(this.active);
  }

  /** Sets a cell to null or to its default. */
  async set(position: GridPosition, value: CellValue): Promise<void> {
    const { columns, order } = this.#getView();
    const [column, row] = [columns[position.column], this.#rows.getRow(position.row)];
    if (column === undefined || row === undefined) return;
    const key = this.#rows.getKey(row);
    try {
      const before = await this.#readValue(key, column, row[order[position.column] ?? -1] ?? null);
      await this.#edits.save(key, column.name, value, before);
    } catch (error) {
      toasts.showError(error);
    }
  }

  /** Returns the complete value of a cell. */
  async readCell({ row, column }: GridPosition): Promise<string | null> {
    const { columns, order } = this.#getView();
    const [shape, values] = [columns[column], this.#rows.getRow(row)];
    if (shape === undefined || values === undefined) return null;
    const listed = values[order[column] ?? -1] ?? null;
    return this.#rows.hasKey ? this.#readValue(this.#rows.getKey(values), shape, listed) : listed;
  }

  /** Reads a value that the list may have truncated. */
  async #readValue(key: Values, { name, isKey }: DataColumn, listed: string | null): Promise<string | null> {
    if (listed === null || isKey || listed.length <= maxListedLength) return listed;
    return (await this.#rows.readRow(key))[name] ?? null;
  }

  #discardFailed(): boolean {
    const { columns } = this.#getView();
    const [column, row] = [columns[this.active.column], this.#rows.getRow(this.active.row)];
    if (column === undefined || row === undefined) return false;
    const edit = this.#edits.find(this.#rows.getKey(row), column.name);
    if (edit === undefined || edit.state === 'saving') return false;
    this.#edits.discard(edit);
    return true;
  }

  /** Returns the focus to the cell, unless another element took it. */
  async #restoreFocus(): Promise<void> {
    await tick();
    if (document.activeElement === document.body) this.findCell(this.active)?.focus({ preventScroll: true });
  }

  #getHeaderHeight(): number {
    return this.frame?.querySelector<HTMLElement>('[role=row]')?.offsetHeight ?? 0;
  }
}

/** Scrolls a cell from below the columns that stay visible. */
function revealSideways(cell: HTMLElement, frame: HTMLElement): void {
  const box = (cell.closest<HTMLElement>('[role=columnheader]') ?? cell).getBoundingClientRect();
  if (getComputedStyle(cell).position === 'sticky' || cell.closest('.pinned') !== null) return;
  const outer = frame.getBoundingClientRect();
  const pinned = [
    ...frame.querySelectorAll<HTMLElement>('[role=row]:first-child > .pinned, [role=row]:first-child > .lead'),
  ];
  const covered = pinned.reduce((width, each) => width + each.offsetWidth, 0);
  if (box.left < outer.left + covered) frame.scrollLeft -= outer.left + covered - box.left;
  else if (box.right > outer.right)
    frame.scrollLeft += Math.min(box.right - outer.right, box.left - outer.left - covered);
}
