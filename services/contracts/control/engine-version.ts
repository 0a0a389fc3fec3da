/**
 * Returns whether a version of an engine is older than another. Builds may add text before and after the numbers, as in
 * `n9.0.2-17-g2a571b6` and `2.56.0.windows.1`, which is not compared. Versions without numbers count as equal.
 */
export function isOlderVersion(version: string, other: string): boolean {
  const [numbers, otherNumbers] = [parseNumbers(version), parseNumbers(other)];
  if (numbers.length === 0) return false;
  for (const [index, otherNumber] of otherNumbers.entries()) {
    const number = numbers[index] ?? 0;
    if (number !== otherNumber) return number < otherNumber;
  }
  return false;
}

function parseNumbers(version: string): readonly number[] {
  const numbers = /\d+(?:\.\d+)*/.exec(version)?.[0];
  return numbers === undefined ? [] : numbers.split('.').map(Number);
}
