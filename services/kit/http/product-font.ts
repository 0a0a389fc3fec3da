import { readFile } from 'node:fs/promises';

const file = new URL(
  '../../../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  import.meta.url,
);
let font: Promise<Buffer> | undefined;

/** Reads the font of the product once, for pages that a service renders itself. */
export function readProductFont(): Promise<Buffer> {
  font ??= readFile(file).catch((error: unknown) => {
    // The next page reads it again, for example after the limit of open files was reached.
    font = undefined;
    throw error;
  });
  return font;
}
