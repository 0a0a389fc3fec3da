import type { Snippet } from 'svelte';

/** Props of a `VirtualList`, which components that wrap one pass on. */
export interface ListProps<Item> {
  readonly items: readonly Item[];
  readonly key: (item: Item) => string | number;
  /** Height of a row in rem; an estimate where rows are measured. */
  readonly height: number;
  /** Height of rows that differ from the others, such as headings. */
  readonly heightOf?: (item: Item) => number;
  /** The height of each row depends on its content. */
  readonly measured?: boolean;
  /**
   * On phones the list is as long as its rows and scrolls with the page, instead of a scrolling area inside the page.
   */
  readonly withPage?: boolean;
  readonly label: string;
  /** Total number of rows where not all are loaded. */
  readonly total?: number;
  readonly row: Snippet<[Item, number]>;
  /** Called when the end becomes visible and more rows can be loaded. */
  readonly onend?: () => void;
  /** Called when the list was scrolled to its top, or away from it. */
  readonly ontop?: (atTop: boolean) => void;
  /** Called with the height of all rows in px. */
  readonly onlength?: (pixels: number) => void;
}

/** Methods of a list for its page. */
export interface ListControls {
  /** Scrolls a row into view. */
  readonly reveal: (index: number) => void;
  readonly toTop: () => void;
}
