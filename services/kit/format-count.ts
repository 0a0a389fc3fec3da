/** Formats a number with its noun: `1 message`, `2 messages`. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${String(count)} ${count === 1 ? singular : plural}`;
}
