import type { Snippet } from 'svelte';

/** What a `VirtualList` shows, and what it tells; parts that frame one pass it on. */
export interface ListProps<Item> {
  readonly items: readonly Item[];
  readonly key: (item: Item) => string | number;
  /** Height of a row in rem; a first guess where rows are measured. */
  readonly height: number;
  /** Of those that are not as high as the others, such as headings. */
  readonly heightOf?: (item: Item) => number;
  /** Each row is as high as what is in it. */
  readonly measured?: boolean;
  /** On a phone it is as long as its rows and scrolls with the page: no box that scrolls in what scrolls. */
  readonly withPage?: boolean;
  readonly label: string;
  /** How many there are in all, where not all are loaded. */
  readonly total?: number;
  readonly row: Snippet<[Item, number]>;
  /** The end comes into sight: more can be loaded. */
  readonly onend?: () => void;
  /** It was scrolled to its top, or away from it. */
  readonly ontop?: (atTop: boolean) => void;
  /** Its rows take so many px in all. */
  readonly onlength?: (pixels: number) => void;
}

/** What a page may ask of a list it holds. */
export interface ListControls {
  /** Brings a row into sight. */
  readonly reveal: (index: number) => void;
  readonly toTop: () => void;
}
