const indent = '  ';

/** Replacement of the characters between `from` and `to`, with the selection afterwards. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Builds the edit of the Tab key: indents or unindents the selected lines, or inserts spaces up to the next tab
 * stop.
 */
export function buildTabEdit(text: string, start: number, end: number, isOutdent: boolean): Edit {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  if (!isOutdent && start === end) {
    const padding = indent.slice(0, indent.length - ((start - from) % indent.length));
    return { from: start, to: start, text: padding, start: start + padding.length, end: start + padding.length };
  }
  const lines = text.slice(from, end).split('\n');
  const shiftedLines = lines.map((line) => (isOutdent ? line.replace(/^(?: {1,2}|\t)/, '') : indent + line));
  const shiftedText = shiftedLines.join('\n');
  const firstLineShift = (shiftedLines[0] ?? '').length - (lines[0] ?? '').length;
  return {
    from,
    to: end,
    text: shiftedText,
    start: Math.max(from, start + firstLineShift),
    end: from + shiftedText.length,
  };
}
