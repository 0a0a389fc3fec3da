const powers: Readonly<Record<string, number>> = { k: 1, m: 2, g: 3, t: 4 };
/** Matches `2.1 GB`, `1,5 GiB`, `1,234.5 MB`, and `2,3 Go` in French. */
const sizePattern = /(?<![\w.,])(\d[\d.,\u00A0]*)\s?([KMGTКМГТ])(i?)(?:[Bb]|o|Б)(?![\p{L}\d])/iu;
const cyrillic: Readonly<Record<string, string>> = { к: 'k', м: 'm', г: 'g', т: 't' };

/** Base of the units in the sizes of an addon. Most addons use 1024 for all unit names. */
export type SizeBase = 1000 | 1024;

/** Parses the first size in a text. Returns bytes. */
export function parseSize(text: string, base: SizeBase = 1024): number | undefined {
  const match = sizePattern.exec(text);
  if (match === null) return undefined;
  const [, digits = '', letter = '', binary = ''] = match;
  const unit = letter.toLowerCase();
  const power = powers[cyrillic[unit] ?? unit];
  const number = parseDecimal(digits);
  if (power === undefined || number === undefined) return undefined;
  const size = Math.round(number * (binary === '' ? base : 1024) ** power);
  return size > 0 && Number.isSafeInteger(size) ? size : undefined;
}

/** Parses a number with a point or comma as decimal separator, and optionally the other one between thousands. */
export function parseDecimal(digits: string): number | undefined {
  const trimmedDigits = digits.replaceAll('\u00A0', '').replace(/[.,]+$/, '');
  const separatorIndex = Math.max(trimmedDigits.lastIndexOf('.'), trimmedDigits.lastIndexOf(','));
  const separators = trimmedDigits.replaceAll(/\d/g, '');
  const isMixed = separators.includes('.') && separators.includes(',');
  const isThousands = !isMixed && (separators.length > 1 || /^\d{1,3},\d{3}$/.test(trimmedDigits));
  const integerPart = separatorIndex === -1 || isThousands ? trimmedDigits : trimmedDigits.slice(0, separatorIndex);
  const decimals = separatorIndex === -1 || isThousands ? '' : `.${trimmedDigits.slice(separatorIndex + 1)}`;
  const number = Number(`${integerPart.replaceAll(/[.,]/g, '')}${decimals}`);
  return Number.isFinite(number) ? number : undefined;
}

/** Parses a size in a field of a stream: bytes, or a text such as `3.1 GB`. */
export function toBytes(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value > 0 ? Math.round(value) : undefined;
  if (typeof value !== 'string') return undefined;
  return /^\s*\d{1,15}(?:\.\d+)?\s*$/.test(value) ? toBytes(Number(value)) : parseSize(value);
}

/** Parses the size after one of the icons. */
export function parseSizeAfter(text: string, icons: readonly string[], base: SizeBase): number | undefined {
  for (const icon of icons) {
    const index = text.indexOf(icon);
    if (index === -1) continue;
    const line = text.slice(index + icon.length).split('\n', 1)[0] ?? '';
    const size = parseSize(line.slice(0, 40), base);
    if (size !== undefined) return size;
  }
  return undefined;
}
