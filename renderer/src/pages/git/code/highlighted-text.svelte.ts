import { plainLines, type Token } from '../../../parts/text/highlight-tokens.ts';
import { highlight } from './highlight.ts';

/** Lines of a text: unstyled at first, highlighted when the highlighter is loaded. */
export class HighlightedText {
  lines = $state.raw<readonly (readonly Token[])[]>([]);

  constructor(text: () => string, path: () => string) {
    $effect(() => {
      let isDestroyed = false;
      this.lines = plainLines(text());
      // A failed highlighter leaves the text readable.
      highlight(text(), path()).then(
        (highlighted) => {
          if (!isDestroyed) this.lines = highlighted;
        },
        () => undefined,
      );
      return () => (isDestroyed = true);
    });
  }
}
