import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import {
  dataRowsApi,
  type DataColumn,
  type DataCondition,
  type DataPolicy,
} from '../../../../services/contracts/data/rows.ts';
import { call } from '../../api/call.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** Rows that are read at once. */
const together = 100;
/** Pieces that are kept while others are looked at. */
const mostKept = 20;
/** Rows that fly by are not read. */
const restMs = 60;

/** A row as the list has it: values in the order of the columns, the long ones cut but for the key's. */
export type ShownRow = readonly (string | null)[];
/** Values by the names of their columns. */
export type Values = Readonly<Record<string, string | null>>;

/** Which rows are asked for, and in which order. */
export interface Wish {
  readonly order: string;
  readonly direction: 'asc' | 'desc';
  readonly column: string;
  readonly condition: DataCondition;
  readonly value: string;
}

/** One table: its columns, its policies, and those of its rows that are looked at. */
export class Rows extends Loadable {
  readonly params: Readonly<Record<'schema' | 'name', string>>;
  columns = $state.raw<readonly DataColumn[]>([]);
  policies = $state.raw<readonly DataPolicy[]>([]);
  isProtected = $state(true);
  isView = $state(false);
  total = $state(0);
  wish = $state.raw<Wish>({ order: '', direction: 'asc', column: '', condition: 'contains', value: '' });
  /** Why rows could not be read, such as a filter that does not fit its column. */
  complaint = $state('');
  readonly #pieces = new SvelteMap<number, readonly ShownRow[]>();
  readonly #watched = new SvelteMap<number, number>();
  readonly #asked = new SvelteSet<number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;

  constructor(params: Rows['params']) {
    super();
    this.params = params;
  }

  get keyed(): boolean {
    return this.columns.some(({ isKey }) => isKey);
  }

  async load(): Promise<void> {
    await this.readOnce(
      async () => {
        const shape = await call(dataRowsApi.shape, { params: this.params });
        await this.#first();
        return shape;
      },
      ({ columns, policies, isProtected, isView }) => {
        [this.columns, this.policies, this.isProtected, this.isView] = [columns, policies, isProtected, isView];
      },
    );
  }

  async look(wish: Partial<Wish>): Promise<void> {
    this.wish = { ...this.wish, ...wish };
    await this.#first();
  }

  /** What is at this place; undefined while it is read. */
  at(index: number): ShownRow | undefined {
    return this.#pieces.get(Math.floor(index / together))?.[index % together];
  }

  /** Reads what is at this place as long as it is seen. Returns what ends that. */
  watch(index: number): () => void {
    const piece = Math.floor(index / together);
    this.#watched.set(piece, (this.#watched.get(piece) ?? 0) + 1);
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#fill(), restMs);
    return () => {
      const left = (this.#watched.get(piece) ?? 1) - 1;
      if (left > 0) this.#watched.set(piece, left);
      else this.#watched.delete(piece);
    };
  }

  keyOf(row: ShownRow): Values {
    return Object.fromEntries(this.columns.flatMap(({ name, isKey }, at) => (isKey ? [[name, row[at] ?? null]] : [])));
  }

  async whole(key: Values): Promise<Values> {
    return (await call(dataRowsApi.read, { params: this.params, body: { key } })).values;
  }

  async insert(values: Values): Promise<void> {
    await call(dataRowsApi.insert, { params: this.params, body: { values } });
    await this.#first();
  }

  async change(key: Values, values: Values): Promise<void> {
    await call(dataRowsApi.change, { params: this.params, body: { key, values } });
    await this.#first();
  }

  /** Answers how many were there to be removed. */
  async remove(keys: readonly Values[]): Promise<number> {
    const { removed } = await call(dataRowsApi.remove, { params: this.params, body: { keys: [...keys] } });
    await this.#first();
    return removed;
  }

  /** Reads anew what is seen, and how many there are. */
  async #first(): Promise<void> {
    const turn = (this.#turn += 1);
    try {
      const { rows, total } = await this.#read(0, true);
      if (turn !== this.#turn) return;
      this.complaint = '';
      this.#asked.clear();
      for (const piece of this.#pieces.keys()) if (!this.#watched.has(piece)) this.#pieces.delete(piece);
      this.#pieces.set(0, rows);
      this.total = total ?? (rows.length < together ? rows.length : Math.max(this.total, 10 * together));
      // Also what came into sight meanwhile.
      const seen = [...this.#watched.keys()].filter((piece) => piece > 0 && piece * together < this.total);
      await Promise.all(seen.map((piece) => this.#take(piece)));
    } catch (error) {
      if (turn !== this.#turn) return;
      if (this.phase === 'loading') throw error;
      this.complaint = error instanceof Error ? error.message : '';
    }
  }

  #fill(): void {
    this.#timer = undefined;
    for (const piece of this.#watched.keys()) {
      if (!this.#pieces.has(piece) && !this.#asked.has(piece)) void this.#take(piece);
    }
  }

  async #take(piece: number): Promise<void> {
    const turn = this.#turn;
    this.#asked.add(piece);
    try {
      const { rows } = await this.#read(piece, false);
      if (turn !== this.#turn) return;
      const far = [...this.#pieces.keys()].filter((each) => !this.#watched.has(each));
      for (const each of far.slice(0, Math.max(0, this.#pieces.size - mostKept))) this.#pieces.delete(each);
      this.#pieces.set(piece, rows);
    } catch (error) {
      if (turn === this.#turn) this.complaint = error instanceof Error ? error.message : '';
    } finally {
      this.#asked.delete(piece);
    }
  }

  #read(piece: number, count: boolean): Promise<{ rows: (string | null)[][]; total: number | null }> {
    const query = { ...this.wish, offset: piece * together, limit: together, count };
    return call(dataRowsApi.list, { params: this.params, query });
  }
}
