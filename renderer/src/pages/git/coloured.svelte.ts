import { plainLines, type Token } from '../../parts/text/highlight-tokens.ts';
import { highlight } from './highlight.ts';

/** The lines of a text: plain at first, with the colours of its language as soon as these are known. */
export class Coloured {
  lines = $state.raw<readonly (readonly Token[])[]>([]);

  constructor(text: () => string, path: () => string) {
    $effect(() => {
      let gone = false;
      this.lines = plainLines(text());
      // Without its colours a text can be read all the same.
      highlight(text(), path()).then(
        (coloured) => {
          if (!gone) this.lines = coloured;
        },
        () => undefined,
      );
      return () => (gone = true);
    });
  }
}
