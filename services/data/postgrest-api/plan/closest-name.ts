/** Of these names the one that was likely meant; undefined where none is near. */
export function closest(name: string, names: readonly string[]): string | undefined {
  // Names of clients can be long, and each comparison costs their product.
  if (name.length > 100) return undefined;
  let best: string | undefined;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const each of names) {
    if (Math.abs(each.length - name.length) >= least || each.length > 100) continue;
    const steps = distance(name, each);
    if (steps < least) [best, least] = [each, steps];
  }
  return best;
}

/** Letters to put in, leave out or change until one is the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
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
