/** A value as the grid shows it: a time of day to the second, since nobody looks for more in a list. */
export function cellWords(value: string, type: string): string {
  return /^time/.test(type) ? value.replace(/(:\d\d)\.\d+/, '$1') : value;
}
