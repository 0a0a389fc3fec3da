/** Returns two letters and one of eight colors that identify a name. */
export function buildMonogram(title: string): { readonly letters: string; readonly hue: number } {
  const terms = title.split(/[\s-]+/).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const [first = '', second] = terms;
  const letters = second === undefined ? first.slice(0, 2) : first.slice(0, 1) + second.slice(0, 1);
  const sum = [...title].reduce((total, letter) => (total * 33 + (letter.codePointAt(0) ?? 0)) % 9973, 7);
  return { letters, hue: sum % 8 };
}
