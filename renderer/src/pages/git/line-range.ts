/** Lines of a file that an address marks, counted from 1 and both included. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** Reads the fragment of an address, such as `#L10`, `#L10-L20` or `#L10-20`; undefined for any other. */
export function parseLineRange(fragment: string): LineRange | undefined {
  const match = /^#L([1-9]\d{0,8})(?:-L?([1-9]\d{0,8}))?$/.exec(fragment);
  if (match === null) return undefined;
  const start = Number(match[1]);
  const end = Number(match[2] ?? match[1]);
  return { first: Math.min(start, end), last: Math.max(start, end) };
}
