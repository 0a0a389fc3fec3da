import * as m from '#messages/kit-texts';

/**
 * Joins names for a short line: `Printer`, `Printer and Films`, `Printer, Films and 3 more`. Long names are
 * truncated.
 */
export function joinNames(names: readonly string[]): string {
  const [first = '', second, ...rest] = names.map((name) => (name.length <= 40 ? name : `${name.slice(0, 39)}…`));
  if (second === undefined) return first;
  return rest.length === 0 ? m.twoNames({ first, second }) : m.moreNames({ first, second, count: rest.length });
}
