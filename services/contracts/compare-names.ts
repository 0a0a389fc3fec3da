const collator = new Intl.Collator('en', { numeric: true });

/**
 * Compares two names for a list that people read: without regard to case, and with numbers by value, so that
 * "Machine 2" precedes "Machine 10".
 */
export function compareNames(first: string, second: string): number {
  return collator.compare(first, second);
}
