import { MediaQuery } from 'svelte/reactivity';
import type { DataColumn } from '../../../../../../services/contracts/data/rows.ts';
import { density } from '../../../../state/density.svelte.ts';
import { getPhoneColumnOrder } from '../columns/column-order.ts';
import { getColumnWidth } from '../columns/column-widths.ts';
import type { Rows } from '../rows.svelte.ts';

/** Width of the column that selects and opens rows, px; on phones it only selects them. */
const leadWidth = 70;
const phoneLeadWidth = 44;
/** Height of a row in rem, for a pointer and for fingers. */
const rowHeightRem = 2.25;
const coarseRowHeightRem = 2.75;
/** Share of the frame that the columns which stay visible may take. */
const maxPinnedShare = 0.6;

/** Visible columns of the grid with their order and widths. */
export class GridColumns {
  readonly #rows: Rows;
  /** Width of the visible part of the grid, px. */
  frameWidth = $state(0);
  readonly #phone = new MediaQuery('max-width: 639px');
  readonly #coarse = new MediaQuery('pointer: coarse');
  readonly #rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** Names of all columns in display order. */
  readonly names = $derived.by(() => {
    const { columns, layout } = this.#rows;
    const initial = this.#phone.current ? getPhoneColumnOrder(columns) : columns.map((_, index) => index);
    return layout.arrange(initial.flatMap((index) => columns[index]?.name ?? []));
  });
  /** Indexes of the visible columns in the rows. */
  readonly order = $derived.by(() => {
    const { columns, layout } = this.#rows;
    const visibleNames = this.names.filter((name) => !layout.isHidden(name));
    return visibleNames.map((name) => columns.findIndex((column) => column.name === name));
  });
  /** Visible columns in display order. */
  readonly visible = $derived(
    this.order.flatMap((index): readonly DataColumn[] => this.#rows.columns.slice(index, index + 1)),
  );
  /** There is a column that selects and opens rows. */
  readonly hasLead = $derived.by(() => this.#rows.hasKey && !this.#rows.isView);
  readonly lead = $derived(this.hasLead ? (this.#phone.current ? phoneLeadWidth : leadWidth) : 0);
  /** Height of a row, px. */
  readonly rowHeight = $derived(
    Math.round((this.#coarse.current ? coarseRowHeightRem : rowHeightRem * density.rowScale) * this.#rem),
  );
  readonly #widths = $derived(
    this.visible.map(
      (column) =>
        this.#rows.layout.findWidth(column.name) ?? Math.round(getColumnWidth(column, this.#phone.current) * this.#rem),
    ),
  );
  readonly totalWidth = $derived(this.lead + this.#widths.reduce((sum, width) => sum + width, 0));
  /** The first column stays visible; a wide one would leave no room for the others. */
  readonly isPinned = $derived(
    this.lead + (this.#widths[0] ?? 0) < this.frameWidth * maxPinnedShare && this.totalWidth > this.frameWidth,
  );
  /** Column widths for `grid-template-columns`. Columns that were not resized share the remaining width. */
  readonly template = $derived.by(() =>
    [
      ...(this.hasLead ? [`${String(this.lead)}px`] : []),
      ...this.visible.map(({ name }, index) => {
        const width = String(this.#widths[index] ?? 0);
        return this.#rows.layout.findWidth(name) === undefined ? `minmax(${width}px, ${width}fr)` : `${width}px`;
      }),
      // Fills the rest when all columns were resized.
      'minmax(0, 0.001fr)',
    ].join(' '),
  );
}
