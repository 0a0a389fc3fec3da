import { parseLineRange, type LineRange } from './line-range.ts';

/** The lines that the fragment of the address marks, up to date while the page is open. */
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

/** Scrolls to an element that marks lines as soon as it is on the page. */
export function scrollToMark(element: HTMLElement): void {
  element.scrollIntoView({ block: 'center' });
}
