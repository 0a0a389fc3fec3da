import type { Readable } from 'node:stream';

/** `yt-dlp -J` of a playlist of thousands is tens of MB on one line. */
const longestLine = 128 * 1024 * 1024;

/** Reads decoded lines of any length up to `longest` characters; a longer one is left out, and so are empty ones. */
export function readLines(stream: Readable, onLine: (line: string) => void, longest = longestLine): void {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let length = 0;
  let skipping = false;
  const take = (text: string): void => {
    length += text.length;
    if (length > longest) skipping = true;
    if (skipping) parts = [];
    else parts.push(text);
  };
  const end = (): void => {
    const line = parts.join('');
    if (!skipping && line !== '') onLine(line);
    parts = [];
    length = 0;
    skipping = false;
  };
  stream.on('data', (chunk: Buffer) => {
    const pieces = decoder.decode(chunk, { stream: true }).split(/\r?\n/);
    const last = pieces.pop() ?? '';
    for (const piece of pieces) {
      take(piece);
      end();
    }
    take(last);
  });
  stream.on('end', () => {
    take(decoder.decode());
    end();
  });
}
