import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  observeWindowOffset,
  observeWindowRect,
  windowScroll,
  type Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';

type AnyVirtualizer = Virtualizer<HTMLElement | Window, HTMLElement>;
type FrameVirtualizer = Virtualizer<HTMLElement, HTMLElement>;
type WindowVirtualizer = Virtualizer<Window, HTMLElement>;
type Options = VirtualizerOptions<HTMLElement | Window, HTMLElement>;

/** Height of the bottom bar of phones in px: a row that is scrolled into view is not behind it. */
const bottomBarHeight = 72;

/** Element that scrolls the rows of a list: the list itself or the page. */
export interface Scroller {
  readonly options: Pick<Options, 'getScrollElement' | 'scrollToFn' | 'observeElementRect' | 'observeElementOffset'> &
    Pick<Options, 'scrollMargin' | 'scrollPaddingEnd'>;
  /**
   * Returns the distance in px between the first row and the top of the visible area; 0 or less when the row is
   * visible.
   */
  getScrolledDistance(): number;
  /** Returns how many px of a list are below the visible area, where it scrolls in its own frame. */
  getDistanceBelow(length: number): number;
  scrollBy(pixels: number): void;
  toTop(): void;
}

/** Creates the scroller of a list that scrolls in a fixed height. */
export function createFrameScroller(frame: HTMLElement): Scroller {
  return {
    options: {
      getScrollElement: () => frame,
      scrollToFn: (offset, options, instance) => elementScroll(offset, options, instance as FrameVirtualizer),
      observeElementRect: (instance: AnyVirtualizer, callback) =>
        observeElementRect(instance as FrameVirtualizer, callback),
      observeElementOffset: (instance: AnyVirtualizer, callback) =>
        observeElementOffset(instance as FrameVirtualizer, callback),
      scrollMargin: 0,
      scrollPaddingEnd: 0,
    },
    getScrolledDistance: () => frame.scrollTop,
    getDistanceBelow: (length) => length - frame.scrollTop - frame.clientHeight,
    scrollBy: (pixels) => (frame.scrollTop += pixels),
    toTop: () => (frame.scrollTop = 0),
  };
}

/** Creates the scroller of a list that is as high as its rows, in a page that scrolls. */
export function createPageScroller(frame: HTMLElement): Scroller {
  const marginTop = frame.getBoundingClientRect().top + scrollY;
  return {
    options: {
      getScrollElement: () => window,
      scrollToFn: (offset, options, instance) => windowScroll(offset, options, instance as WindowVirtualizer),
      observeElementRect: (instance: AnyVirtualizer, callback) =>
        observeWindowRect(instance as WindowVirtualizer, callback),
      observeElementOffset: (instance: AnyVirtualizer, callback) =>
        observeWindowOffset(instance as WindowVirtualizer, callback),
      scrollMargin: marginTop,
      scrollPaddingEnd: bottomBarHeight,
    },
    getScrolledDistance: () => -frame.getBoundingClientRect().top,
    getDistanceBelow: () => 0,
    scrollBy: (pixels) => scrollBy(0, pixels),
    toTop: () => scrollTo(0, 0),
  };
}
