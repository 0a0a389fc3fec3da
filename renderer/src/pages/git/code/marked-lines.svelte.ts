import { parseLineRange, type LineRange } from './line-range.ts';

/** Tracks the line range in the URL fragment. */
export class MarkedLines {
  range = $state.raw<LineRange | undefined>(parseLineRange(location.hash));

  constructor() {
    $effect(() => {
      const update = (): void => void (this.range = parseLineRange(location.hash));
      update();
      addEventListener('hashchange', update);
      addEventListener('popstate', update);
      return () => {
        removeEventListener('hashchange', update);
        removeEventListener('popstate', update);
      };
    });
  }
}

/** Scrolls to the first marked line when it is mounted. */
export function scrollToMark(element: HTMLElement): void {
  element.scrollIntoView({ block: 'center' });
}
