import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { readLines } from '../../../services/kit/lines.ts';

async function readAllLines(
  chunks: readonly (string | Uint8Array)[],
  maxLineLength?: number,
): Promise<readonly string[]> {
  const stream = new PassThrough();
  const lines: string[] = [];
  readLines(stream, (line) => lines.push(line), maxLineLength);
  for (const chunk of chunks) stream.write(chunk);
  await new Promise<void>((resolve) => {
    stream.once('end', resolve);
    stream.end();
  });
  return lines;
}

it('joins lines that arrive in chunks, even within a character', async () => {
  const text = new TextEncoder().encode('grün\r\nblau\n\nlast');
  expect(await readAllLines([text.subarray(0, 3), text.subarray(3, 7), text.subarray(7)])).toEqual([
    'grün',
    'blau',
    'last',
  ]);
});

it('skips a line that is too long and continues with the next one', async () => {
  expect(await readAllLines(['a\n', 'x'.repeat(20), 'y'.repeat(20), '\nb\n'], 30)).toEqual(['a', 'b']);
});
