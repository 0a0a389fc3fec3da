/** A line of a unified patch, with its numbers in the old and the new file. */
export interface PatchLine {
  readonly kind: 'same' | 'added' | 'removed' | 'place';
  readonly text: string;
  readonly before?: number;
  readonly after?: number;
}

/** The lines of a patch from its first `@@` on. */
export function patchLines(patch: string): readonly PatchLine[] {
  let [before, after] = [0, 0];
  return patch
    .replace(/\n$/, '')
    .split('\n')
    .map((text): PatchLine => {
      const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text);
      if (start !== null) {
        [before, after] = [Number(start[1]), Number(start[2])];
        return { kind: 'place', text };
      }
      if (text.startsWith('\\')) return { kind: 'place', text };
      if (text.startsWith('+')) return { kind: 'added', text, after: after++ };
      if (text.startsWith('-')) return { kind: 'removed', text, before: before++ };
      return { kind: 'same', text, before: before++, after: after++ };
    });
}
