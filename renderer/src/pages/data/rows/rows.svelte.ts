import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import {
  dataRowsApi,
  type DataColumn,
  type DataCondition,
  type DataPolicy,
} from '../../../../../services/contracts/data/rows.ts';
import { call } from '../../../api/call.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';
import { ColumnLayout } from './columns/column-layout.svelte.ts';

/** Number of rows per request. */
const rowsPerChunk = 100;
/** Maximum number of cached chunks. */
const maxChunks = 20;
/** Delay in ms before visible rows are loaded, so that fast scrolling does not load them. */
const settleMs = 60;

/** Row of the list: values in column order, long ones truncated except keys. */
export type ListedRow = readonly (string | null)[];
/** Values by column name. */
export type Values = Readonly<Record<string, string | null>>;

/** New content of a cell. */
export type CellValue = { readonly kind: 'value'; readonly text: string | null } | { readonly kind: 'default' };

/** Changes of a row. */
interface RowChange {
  readonly values: Values;
  /** Columns that are set to their default. */
  readonly defaults: readonly string[];
  /** Values before the change. */
  readonly expected: Values;
}

/** Filter and order of the rows. */
export interface RowQuery {
  readonly order: string;
  readonly direction: 'asc' | 'desc';
  readonly column: string;
  readonly condition: DataCondition;
  readonly value: string;
}

/** Columns, policies and cached rows of a table. */
export class Rows extends Loadable {
  readonly params: Readonly<Record<'schema' | 'name', string>>;
  columns = $state.raw<readonly DataColumn[]>([]);
  policies = $state.raw<readonly DataPolicy[]>([]);
  isProtected = $state(true);
  isView = $state(false);
  total = $state(0);
  rowQuery = $state.raw<RowQuery>({ order: '', direction: 'asc', column: '', condition: 'contains', value: '' });
  /** Error of the last list request, such as a filter that does not match the column type. */
  listError = $state('');
  /** Order, visibility and widths of the columns. */
  readonly layout: ColumnLayout;
  readonly #chunks = new SvelteMap<number, readonly ListedRow[]>();
  readonly #observers = new SvelteMap<number, number>();
  readonly #pendingChunks = new SvelteSet<number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #requestId = 0;

  constructor(params: Rows['params']) {
    super();
    this.params = params;
    this.layout = new ColumnLayout(params);
    this.rowQuery = { ...this.rowQuery, ...this.layout.sort };
  }

  get hasKey(): boolean {
    return this.columns.some(({ isKey }) => isKey);
  }

  async load(): Promise<void> {
    await this.readOnce(
      async () => {
        const table = await call(dataRowsApi.shape, { params: this.params });
        // The column of the stored order may have been renamed or deleted.
        if (!table.columns.some(({ name }) => name === this.rowQuery.order))
          this.rowQuery = { ...this.rowQuery, order: '', direction: 'asc' };
        await this.#reload();
        return table;
      },
      ({ columns, policies, isProtected, isView }) => {
        [this.columns, this.policies, this.isProtected, this.isView] = [columns, policies, isProtected, isView];
      },
    );
  }

  async setQuery(changes: Partial<RowQuery>): Promise<void> {
    this.rowQuery = { ...this.rowQuery, ...changes };
    const { order, direction } = this.rowQuery;
    this.layout.setSort({ order, direction });
    await this.#reload();
  }

  /** Returns a row; undefined while it is loading. */
  getRow(index: number): ListedRow | undefined {
    return this.#chunks.get(Math.floor(index / rowsPerChunk))?.[index % rowsPerChunk];
  }

  /** Loads a row while it is visible. Returns a function that stops it. */
  observe(index: number): () => void {
    const chunk = Math.floor(index / rowsPerChunk);
    this.#observers.set(chunk, (this.#observers.get(chunk) ?? 0) + 1);
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#loadVisible(), settleMs);
    return () => {
      const remaining = (this.#observers.get(chunk) ?? 1) - 1;
      if (remaining > 0) this.#observers.set(chunk, remaining);
      else this.#observers.delete(chunk);
    };
  }

  getKey(row: ListedRow): Values {
    return Object.fromEntries(
      this.columns.flatMap(({ name, isKey }, columnIndex) => (isKey ? [[name, row[columnIndex] ?? null]] : [])),
    );
  }

  async readRow(key: Values): Promise<Values> {
    return (await call(dataRowsApi.read, { params: this.params, body: { key } })).values;
  }

  async insert(values: Values): Promise<void> {
    await call(dataRowsApi.insert, { params: this.params, body: { values } });
    await this.#reload();
  }

  /** Changes a row unless one of the expected values was changed in the meantime. */
  async change(key: Values, { values, defaults, expected }: RowChange): Promise<void> {
    const body = { key, values, defaults: [...defaults], expected };
    await call(dataRowsApi.change, { params: this.params, body });
    await this.#reload();
  }

  /**
   * Changes one value unless it was changed in the meantime, and updates the row in place. Returns the stored row; null
   * if nothing was changed.
   */
  async changeCell(key: Values, column: string, value: CellValue, expected: Values): Promise<ListedRow | null> {
    const content =
      value.kind === 'default'
        ? { values: {}, defaults: [column] }
        : { values: { [column]: value.text }, defaults: [] };
    const { row } = await call(dataRowsApi.change, { params: this.params, body: { key, ...content, expected } });
    if (row !== null) this.#replaceRow(key, row);
    return row;
  }

  /** Reloads the visible rows. */
  async reload(): Promise<void> {
    await this.#reload();
  }

  /** Deletes rows and returns how many existed. */
  async remove(keys: readonly Values[]): Promise<number> {
    const { removed } = await call(dataRowsApi.remove, { params: this.params, body: { keys: [...keys] } });
    await this.#reload();
    return removed;
  }

  #replaceRow(key: Values, row: ListedRow): void {
    const id = JSON.stringify(key);
    for (const [chunk, rows] of this.#chunks) {
      const index = rows.findIndex((each) => JSON.stringify(this.getKey(each)) === id);
      if (index !== -1) this.#chunks.set(chunk, rows.with(index, row));
    }
  }

  /** Reloads the visible rows and the total. */
  async #reload(): Promise<void> {
    const requestId = (this.#requestId += 1);
    try {
      const { rows, total } = await this.#read(0, true);
      if (requestId !== this.#requestId) return;
      this.listError = '';
      this.#pendingChunks.clear();
      for (const chunk of this.#chunks.keys()) if (!this.#observers.has(chunk)) this.#chunks.delete(chunk);
      this.#chunks.set(0, rows);
      this.total = total ?? (rows.length < rowsPerChunk ? rows.length : Math.max(this.total, 10 * rowsPerChunk));
      // Includes rows that became visible during the request.
      const visible = [...this.#observers.keys()].filter((chunk) => chunk > 0 && chunk * rowsPerChunk < this.total);
      await Promise.all(visible.map((chunk) => this.#loadChunk(chunk)));
    } catch (error) {
      if (requestId !== this.#requestId) return;
      if (this.phase === 'loading') throw error;
      this.listError = error instanceof Error ? error.message : '';
    }
  }

  #loadVisible(): void {
    this.#timer = undefined;
    for (const chunk of this.#observers.keys()) {
      if (!this.#chunks.has(chunk) && !this.#pendingChunks.has(chunk)) void this.#loadChunk(chunk);
    }
  }

  async #loadChunk(chunk: number): Promise<void> {
    const requestId = this.#requestId;
    this.#pendingChunks.add(chunk);
    try {
      const { rows } = await this.#read(chunk, false);
      if (requestId !== this.#requestId) return;
      const hidden = [...this.#chunks.keys()].filter((each) => !this.#observers.has(each));
      for (const each of hidden.slice(0, Math.max(0, this.#chunks.size - maxChunks))) this.#chunks.delete(each);
      this.#chunks.set(chunk, rows);
    } catch (error) {
      if (requestId === this.#requestId) this.listError = error instanceof Error ? error.message : '';
    } finally {
      this.#pendingChunks.delete(chunk);
    }
  }

  #read(chunk: number, count: boolean): Promise<{ rows: (string | null)[][]; total: number | null }> {
    const query = { ...this.rowQuery, offset: chunk * rowsPerChunk, limit: rowsPerChunk, count };
    return call(dataRowsApi.list, { params: this.params, query });
  }
}
