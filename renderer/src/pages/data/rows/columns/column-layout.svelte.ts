import { z } from 'zod';
import { readLocalStorageJson, writeLocalStorage } from '../../../../state/local-storage.ts';

/** Limits of a column width in px. */
export const minColumnWidth = 56;
export const maxColumnWidth = 800;

const Sort = z.object({ order: z.string(), direction: z.enum(['asc', 'desc']) });
/** Layout of the columns of a table, stored in this browser. */
const Layout = z.object({
  /** Names of columns in display order; columns that are not listed follow in the order of the table. */
  order: z.array(z.string()).default([]),
  hidden: z.array(z.string()).default([]),
  /** Widths in px of resized columns. */
  widths: z.record(z.string(), z.number()).default({}),
  sort: Sort.default({ order: '', direction: 'asc' }),
});
type Layout = z.infer<typeof Layout>;

const emptyLayout: Layout = { order: [], hidden: [], widths: {}, sort: { order: '', direction: 'asc' } };

/** Order, visibility and widths of the columns of a table, and its sort order, kept in this browser. */
export class ColumnLayout {
  readonly #storageKey: string;
  #layout = $state.raw<Layout>(emptyLayout);

  constructor({ schema, name }: Readonly<Record<'schema' | 'name', string>>) {
    this.#storageKey = `homeport.data.columns.${schema}.${name}`;
    this.#layout = Layout.safeParse(readLocalStorageJson(this.#storageKey)).data ?? emptyLayout;
  }

  get sort(): z.infer<typeof Sort> {
    return this.#layout.sort;
  }

  /** The user changed the order, the visibility or the widths. */
  get isChanged(): boolean {
    const { order, hidden, widths } = this.#layout;
    return order.length > 0 || hidden.length > 0 || Object.keys(widths).length > 0;
  }

  isHidden(name: string): boolean {
    return this.#layout.hidden.includes(name);
  }

  /** Returns the width of a resized column, in px. */
  findWidth(name: string): number | undefined {
    return this.#layout.widths[name];
  }

  /** Sorts names: those with a stored place first, in their order. */
  arrange(names: readonly string[]): readonly string[] {
    const { order } = this.#layout;
    const stored = order.filter((name) => names.includes(name));
    return [...stored, ...names.filter((name) => !stored.includes(name))];
  }

  setWidth(name: string, width: number): void {
    const limited = Math.round(Math.max(minColumnWidth, Math.min(width, maxColumnWidth)));
    this.#store({ widths: { ...this.#layout.widths, [name]: limited } });
  }

  /** Stores the order of all columns. */
  setOrder(order: readonly string[]): void {
    this.#store({ order: [...order] });
  }

  setHidden(name: string, isHidden: boolean): void {
    const others = this.#layout.hidden.filter((each) => each !== name);
    this.#store({ hidden: isHidden ? [...others, name] : others });
  }

  setSort(sort: z.infer<typeof Sort>): void {
    this.#store({ sort });
  }

  /** Restores the default order, visibility and widths; the sort order stays. */
  reset(): void {
    this.#store({ ...emptyLayout, sort: this.sort });
  }

  #store(changes: Partial<Layout>): void {
    this.#layout = { ...this.#layout, ...changes };
    writeLocalStorage(this.#storageKey, JSON.stringify(this.#layout));
  }
}

/** Moves an item of a list to the place of another one. */
export function moveToPlace(names: readonly string[], name: string, target: string): readonly string[] {
  const to = names.indexOf(target);
  return names.includes(name) && to !== -1 ? names.filter((each) => each !== name).toSpliced(to, 0, name) : names;
}

/** Moves an item of a list by one place. */
export function moveByOne(names: readonly string[], name: string, by: -1 | 1): readonly string[] {
  const from = names.indexOf(name);
  const to = from + by;
  if (from === -1 || to < 0 || to >= names.length) return names;
  return names.with(from, names[to] ?? name).with(to, name);
}
