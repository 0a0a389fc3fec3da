/** Line of a unified diff with its numbers in the old and the new file. */
export interface PatchLine {
  readonly kind: 'same' | 'added' | 'removed' | 'place';
  readonly text: string;
  readonly before?: number;
  readonly after?: number;
}

/** Parses the lines of a patch, starting at its first hunk header (`@@`). */
export function parsePatch(patch: string): readonly PatchLine[] {
  let [oldLine, newLine] = [0, 0];
  return patch
    .replace(/\n$/, '')
    .split('\n')
    .map((text): PatchLine => {
      const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text);
      if (start !== null) {
        [oldLine, newLine] = [Number(start[1]), Number(start[2])];
        return { kind: 'place', text };
      }
      if (text.startsWith('\\')) return { kind: 'place', text };
      if (text.startsWith('+')) return { kind: 'added', text, after: newLine++ };
      if (text.startsWith('-')) return { kind: 'removed', text, before: oldLine++ };
      return { kind: 'same', text, before: oldLine++, after: newLine++ };
    });
}
