/** `Printer`, `Printer and Films`, `Printer, Films and 3 more`: what a line has room for. A long name is cut. */
export function joinNames(names: readonly string[]): string {
  const [first = '', second, ...rest] = names.map((name) => (name.length <= 40 ? name : `${name.slice(0, 39)}…`));
  if (second === undefined) return first;
  return rest.length === 0 ? `${first} and ${second}` : `${first}, ${second} and ${String(rest.length)} more`;
}
