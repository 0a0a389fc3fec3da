import { readFile } from 'node:fs/promises';

const file = new URL(
  '../../../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  import.meta.url,
);
let font: Promise<Buffer> | undefined;

/** Reads the font of the product once, for pages that a service renders itself. */
export function readProductFont(): Promise<Buffer> {
  font ??= readFile(file);
  return font;
}
