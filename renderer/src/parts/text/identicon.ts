/** Drawing of an account or a repository: filled cells of a grid with 5 columns and 5 rows, and a hue. */
export interface Identicon {
  /** Hue in degrees. */
  readonly hue: number;
  readonly cells: readonly { readonly x: number; readonly y: number }[];
}

const size = 5;
const middle = (size - 1) / 2;

/** Draws a name: the same name always has the same symmetrical pattern. Case is ignored, as in account names. */
export function drawIdenticon(name: string): Identicon {
  const [pattern, hue] = [hash(name.toLowerCase(), 0x811c9dc5), hash(name.toLowerCase(), 0x9747b28c)];
  const cells: { x: number; y: number }[] = [];
  for (let column = 0; column <= middle; column += 1) {
    for (let y = 0; y < size; y += 1) {
      if ((pattern >>> (column * size + y)) % 2 === 0) continue;
      // The right half mirrors the left one.
      cells.push({ x: column, y }, ...(column === middle ? [] : [{ x: size - 1 - column, y }]));
    }
  }
  return { hue: hue % 360, cells };
}

/** FNV-1a with a final mix, so that similar names look different. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  value = Math.imul(value ^ (value >>> 12), 0x297a2d39);
  return (value ^ (value >>> 15)) >>> 0;
}
