const step = '  ';

/** What stands in place of the characters between `from` and `to`, and what is selected then. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** What Tab does in an editor: moves the selected lines in, or out, and without a selection goes on to the next stop. */
export function indented(text: string, start: number, end: number, out: boolean): Edit {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  if (!out && start === end) {
    const stop = step.slice(0, step.length - ((start - from) % step.length));
    return { from: start, to: start, text: stop, start: start + stop.length, end: start + stop.length };
  }
  const lines = text.slice(from, end).split('\n');
  const moved = lines.map((line) => (out ? line.replace(/^(?: {1,2}|\t)/, '') : step + line));
  const written = moved.join('\n');
  const first = (moved[0] ?? '').length - (lines[0] ?? '').length;
  return {
    from,
    to: end,
    text: written,
    start: Math.max(from, start + first),
    end: from + written.length,
  };
}
