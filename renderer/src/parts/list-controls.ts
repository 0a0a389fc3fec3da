/** What a page may ask of a `VirtualList` it holds. */
export interface ListControls {
  /** Brings a row into sight. */
  readonly reveal: (index: number) => void;
  readonly toTop: () => void;
}
