/** Line range of a URL fragment, 1-based and inclusive. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** Parses a URL fragment such as `#L10`, `#L10-L20` or `#L10-20`. Returns undefined for other fragments. */
export function parseLineRange(fragment: string): LineRange | undefined {
  const match = /^#L([1-9]\d{0,8})(?:-L?([1-9]\d{0,8}))?$/.exec(fragment);
  if (match === null) return undefined;
  const start = Number(match[1]);
  const end = Number(match[2] ?? match[1]);
  return { first: Math.min(start, end), last: Math.max(start, end) };
}
