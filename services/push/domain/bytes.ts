const units: Readonly<Record<string, number>> = { '': 1, B: 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

/** Parses a size in ntfy's configuration format (`100M`, `5G`, `2048`) into bytes; undefined when invalid. */
export function parseBytes(text: string): number | undefined {
  const [, count, unit = ''] = /^\s*(\d{1,9})\s*([BKMGT]?)(?:iB|B)?\s*$/i.exec(text) ?? [];
  if (count === undefined) return undefined;
  return Number(count) * (units[unit.toUpperCase()] ?? 1);
}
