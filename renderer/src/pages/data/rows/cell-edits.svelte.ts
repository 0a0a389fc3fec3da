import * as m from '#messages/data-rows';
import { SvelteMap } from 'svelte/reactivity';
import { Problem } from '../../../../../services/contracts/problem.ts';
import { formatError } from '../../../api/call.ts';
import { toasts } from '../../../state/toasts.svelte.ts';
import type { CellValue, ListedRow, Rows, Values } from './rows.svelte.ts';

/** Change of a cell that is not stored yet. */
export interface CellEdit {
  readonly key: Values;
  readonly column: string;
  readonly value: CellValue;
  /** Complete value before the change. */
  readonly before: string | null;
  readonly state: 'saving' | 'failed' | 'conflict';
  /** Error of the host; empty while saving. */
  readonly message: string;
}

/** Maximum length at which a value of a list is complete, characters. */
export const maxListedLength = 299;

/**
 * Changes of cells. A change is visible immediately; when it is rejected, it stays with its error until it is corrected
 * or discarded.
 */
export class CellEdits {
  readonly #rows: Rows;
  readonly #edits = new SvelteMap<string, CellEdit>();
  /** Changes that can be undone, the latest last. */
  readonly #undo: (() => Promise<void>)[] = [];
  #toast: number | undefined;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** The first change that was rejected. */
  get firstFailed(): CellEdit | undefined {
    return [...this.#edits.values()].find(({ state }) => state !== 'saving');
  }

  find(key: Values, column: string): CellEdit | undefined {
    return this.#edits.get(getId(key, column));
  }

  discard({ key, column }: CellEdit): void {
    this.#edits.delete(getId(key, column));
  }

  /** Saves a change. Resolves when it is stored or rejected. */
  async save(key: Values, column: string, value: CellValue, before: string | null): Promise<void> {
    await this.#send({ key, column, value, before, state: 'saving', message: '' }, { [column]: before });
  }

  /** Saves a change although the stored value was changed in the meantime. */
  async overwrite(edit: CellEdit): Promise<void> {
    const before = (await this.#rows.readRow(edit.key))[edit.column] ?? null;
    await this.save(edit.key, edit.column, edit.value, before);
  }

  /** Discards a change and shows the stored row. */
  async useStored(edit: CellEdit): Promise<void> {
    this.discard(edit);
    await this.#rows.reload();
  }

  /** Undoes the latest change. Returns false if there is none. */
  undoLatest(): boolean {
    const undo = this.#undo.pop();
    if (undo === undefined) return false;
    if (this.#toast !== undefined) toasts.close(this.#toast);
    void undo();
    return true;
  }

  async #send(edit: CellEdit, expected: Values): Promise<void> {
    const { key, column, value } = edit;
    const id = getId(key, column);
    this.#edits.set(id, edit);
    try {
      const row = await this.#rows.changeCell(key, column, value, expected);
      // A later change of the same cell may be pending.
      if (this.#edits.get(id) === edit) this.#edits.delete(id);
      if (row !== null) this.#offerUndo(edit, row);
    } catch (error) {
      const isConflict = error instanceof Problem && error.code === 'data.row_changed';
      const fields: Readonly<Record<string, string>> = error instanceof Problem ? error.fields : {};
      const message = fields[column] ?? formatError(error);
      if (this.#edits.get(id) === edit)
        this.#edits.set(id, { ...edit, state: isConflict ? 'conflict' : 'failed', message });
    }
  }

  /** Returns the value that an undo expects. A truncated one is read immediately; unreadable ones cannot be compared. */
  async #readStored(key: Values, column: string, listed: string | null): Promise<Values> {
    if (listed === null || listed.length <= maxListedLength) return { [column]: listed };
    const row = await this.#rows.readRow(key).catch(() => undefined);
    return row === undefined ? {} : { [column]: row[column] ?? null };
  }

  #offerUndo({ column, before }: CellEdit, row: ListedRow): void {
    const key = this.#rows.getKey(row);
    const stored = row[this.#rows.columns.findIndex(({ name }) => name === column)] ?? null;
    const expected = this.#readStored(key, column, stored);
    const undo = async (): Promise<void> => {
      const index = this.#undo.indexOf(undo);
      if (index !== -1) this.#undo.splice(index, 1);
      try {
        await this.#rows.changeCell(key, column, { kind: 'value', text: before }, await expected);
      } catch (error) {
        toasts.showError(error);
      }
    };
    this.#undo.push(undo);
    // One toast for quick changes of many cells; Ctrl+Z undoes the earlier ones.
    if (this.#toast !== undefined) toasts.close(this.#toast);
    this.#toast = toasts.show(m.cellSaved({ column }), { undo });
  }
}

function getId(key: Values, column: string): string {
  return JSON.stringify([key, column]);
}
