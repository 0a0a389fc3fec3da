/**
 * Returns the SHA-256 of a file from a publisher's list, in lower case; undefined when the list does not name it. Accepts
 * the lines of `sha256sum`, also inside a signed message.
 */
export function findChecksum(list: string, file: string): string | undefined {
  for (const line of list.split('\n')) {
    const [, sum, name] = /^([0-9a-f]{64})\s+\*?(\S+)$/i.exec(line.trim()) ?? [];
    if (name === file) return sum?.toLowerCase();
  }
  return undefined;
}
