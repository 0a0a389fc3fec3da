import type { Readable } from 'node:stream';

/** `yt-dlp -J` prints a playlist of thousands of entries as one line of tens of MB. */
const defaultMaxLineLength = 128 * 1024 * 1024;

/** Reads decoded lines of up to `maxLineLength` characters; longer and empty lines are skipped. */
export function readLines(
  stream: Readable,
  onLine: (line: string) => void,
  maxLineLength = defaultMaxLineLength,
): void {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let length = 0;
  let skipping = false;
  const append = (text: string): void => {
    length += text.length;
    if (length > maxLineLength) skipping = true;
    if (skipping) parts = [];
    else parts.push(text);
  };
  const finishLine = (): void => {
    const line = parts.join('');
    if (!skipping && line !== '') onLine(line);
    parts = [];
    length = 0;
    skipping = false;
  };
  stream.on('data', (chunk: Buffer) => {
    const pieces = decoder.decode(chunk, { stream: true }).split(/\r?\n/);
    const rest = pieces.pop() ?? '';
    for (const piece of pieces) {
      append(piece);
      finishLine();
    }
    append(rest);
  });
  stream.on('end', () => {
    append(decoder.decode());
    finishLine();
  });
}
