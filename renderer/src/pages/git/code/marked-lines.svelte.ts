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

  /** Marks a line, or all lines between it and the marked ones, and puts them into the address. */
  mark(line: number, isRange: boolean): void {
    const { first, last } = (isRange ? this.range : undefined) ?? { first: line, last: line };
    const range = { first: Math.min(first, line), last: line < first ? last : line };
    const fragment = range.first === range.last ? `#L${range.first}` : `#L${range.first}-L${range.last}`;
    history.replaceState(history.state, '', fragment);
    this.range = range;
  }
}

/** Scrolls to the first marked line when it is mounted. */
export function scrollToMark(element: HTMLElement): void {
  element.scrollIntoView({ block: 'center' });
}
