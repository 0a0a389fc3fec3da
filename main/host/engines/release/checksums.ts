/**
 * Returns the SHA-256 of a file from a publisher's list, in lower case; undefined when the list does not name it.
 *
 * Accepts the lines of `sha256sum` (also inside a signed message), and a list for this file alone: the sum without a
 * name, or the output of PowerShell's `Get-FileHash`.
 */
export function findChecksum(list: string, file: string): string | undefined {
  const lines = list.split('\n').map((line) => line.trim());
  for (const line of lines) {
    const [, sum, name] = /^([0-9a-f]{64})\s+\*?(\S+)$/i.exec(line) ?? [];
    if (name === file) return sum?.toLowerCase();
  }
  const namesOthers = lines.some((line) => /^[0-9a-f]{64}\s+\S/i.test(line));
  if (namesOthers) return undefined;
  const sums = lines.flatMap((line) => /^(?:Hash\s*:\s*)?([0-9a-f]{64})$/i.exec(line)?.[1] ?? []);
  return sums.length === 1 ? sums[0]?.toLowerCase() : undefined;
}
