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

type Either = Virtualizer<HTMLElement | Window, HTMLElement>;
type Own = Virtualizer<HTMLElement, HTMLElement>;
type Pages = Virtualizer<Window, HTMLElement>;
type Options = VirtualizerOptions<HTMLElement | Window, HTMLElement>;

/** Of a phone's bar at the window's foot, in px: a row that is brought into sight stands clear of it. */
const bar = 72;

/** What moves the rows of a list: the list itself, or the page that it stands in. */
export interface Scroller {
  readonly options: Pick<Options, 'getScrollElement' | 'scrollToFn' | 'observeElementRect' | 'observeElementOffset'> &
    Pick<Options, 'scrollMargin' | 'scrollPaddingEnd'>;
  /** How far its first row is above what is seen; none or less: it is in sight. */
  passed(): number;
  /** How much of a list so many px long is below what is seen of it, where it scrolls in a frame of its own. */
  below(length: number): number;
  by(pixels: number): void;
  toTop(): void;
}

/** A list that scrolls in the height it was given. */
export function ownScroller(frame: HTMLElement): Scroller {
  return {
    options: {
      getScrollElement: () => frame,
      scrollToFn: (offset, given, instance) => elementScroll(offset, given, instance as Own),
      observeElementRect: (instance: Either, tell) => observeElementRect(instance as Own, tell),
      observeElementOffset: (instance: Either, tell) => observeElementOffset(instance as Own, tell),
      scrollMargin: 0,
      scrollPaddingEnd: 0,
    },
    passed: () => frame.scrollTop,
    below: (length) => length - frame.scrollTop - frame.clientHeight,
    by: (pixels) => (frame.scrollTop += pixels),
    toTop: () => (frame.scrollTop = 0),
  };
}

/** A list that is as high as its rows, in a page that scrolls. */
export function pageScroller(frame: HTMLElement): Scroller {
  const above = frame.getBoundingClientRect().top + scrollY;
  return {
    options: {
      getScrollElement: () => window,
      scrollToFn: (offset, given, instance) => windowScroll(offset, given, instance as Pages),
      observeElementRect: (instance: Either, tell) => observeWindowRect(instance as Pages, tell),
      observeElementOffset: (instance: Either, tell) => observeWindowOffset(instance as Pages, tell),
      scrollMargin: above,
      scrollPaddingEnd: bar,
    },
    passed: () => -frame.getBoundingClientRect().top,
    below: () => 0,
    by: (pixels) => scrollBy(0, pixels),
    toTop: () => scrollTo(0, 0),
  };
}
