const longest = 120;

/** Returns the similarity of two texts from 0 to 1, based on their longest common subsequence. */
export function similarity(one: string, other: string): number {
  const [left, right] = [one.slice(0, longest), other.slice(0, longest)];
  if (left === right) return 1;
  if (left === '' || right === '') return 0;
  // The algorithm only requires the former row of the table.
  let above = new Uint16Array(right.length + 1);
  for (const letter of left) {
    const row = new Uint16Array(right.length + 1);
    for (let at = 1; at <= right.length; at += 1)
      row[at] = right[at - 1] === letter ? (above[at - 1] ?? 0) + 1 : Math.max(above[at] ?? 0, row[at - 1] ?? 0);
    above = row;
  }
  return (2 * (above[right.length] ?? 0)) / (left.length + right.length);
}
