/** Returns the most similar name, or undefined when none is similar enough. */
export function findClosestName(name: string, names: readonly string[]): string | undefined {
  // The comparison takes time proportional to the product of the lengths, so long names are skipped.
  if (name.length > 100) return undefined;
  let best: string | undefined;
  let minDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const each of names) {
    if (Math.abs(each.length - name.length) >= minDistance || each.length > 100) continue;
    const nameDistance = distance(name, each);
    if (nameDistance < minDistance) [best, minDistance] = [each, nameDistance];
  }
  return best;
}

/** Computes the Levenshtein distance. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
