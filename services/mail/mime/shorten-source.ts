/** Of one stretch without a boundary this much is read: a part's body in quoted-printable, and what is shown of it. */
const stretchBytes = 2 * 1024 * 1024;

/**
 * Whether a part of this size came out of a stretch that was not cut, in a source of which something was: quoted-printable
 * is at most three times as long as what it stands for, and what is longer than a stretch can only be a file.
 */
export function isWhole(bytes: number): boolean {
  return bytes < stretchBytes / 3 || bytes > stretchBytes;
}

/** In so many bytes behind a boundary stands the part's header. */
const headBytes = 16 * 1024;
/** A file in base64 has lines of 76; a reader that looks at each line pays for shorter ones. */
const shortLine = 40;

/**
 * The source without the inside of what is longer than anybody is shown, and whether anything was left out. Every line that
 * begins with two hyphens stays, since it may be a boundary: so each part keeps its header and its beginning, and a mail of
 * 30 MB costs its reader, who looks at every line, no more than a small one. Files in base64 stay whole: they are to be
 * passed on, and their lines are few.
 */
export function abridge(raw: Uint8Array): { readonly raw: Uint8Array; readonly cut: boolean } {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  if (bytes.length <= stretchBytes) return { raw, cut: false };
  const kept: Uint8Array[] = [];
  let cut = false;
  for (let start = 0; start < bytes.length;) {
    const boundary = bytes.indexOf('\n--', start + 1);
    const end = boundary === -1 ? bytes.length : boundary;
    const whole = end - start <= stretchBytes || isFile(bytes.subarray(start, end));
    cut ||= !whole;
    kept.push(bytes.subarray(start, whole ? end : cutBefore(bytes, start + stretchBytes)));
    start = end;
  }
  return cut ? { raw: Buffer.concat(kept), cut } : { raw, cut };
}

/** A part in base64 that is not shown, with lines as long as they should be. */
function isFile(stretch: Buffer): boolean {
  const text = stretch.toString('latin1', 0, headBytes);
  const end = /\r?\n\r?\n/.exec(text)?.index;
  if (end === undefined) return false;
  const header = text.slice(0, end);
  const shown =
    /^content-type:\s*text\/(plain|html)/im.test(header) && !/^content-disposition:\s*attachment/im.test(header);
  if (shown || !/^content-transfer-encoding:\s*base64/im.test(header)) return false;
  return countLines(stretch) * shortLine < stretch.length;
}

/** Line ends in a source. */
export function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}

/** The end of the last whole line, or at least of the last whole character in UTF-8. */
function cutBefore(bytes: Buffer, position: number): number {
  const line = bytes.lastIndexOf('\n', position - 1) + 1;
  if (position - line < 100_000) return line;
  let cut = position;
  while (((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1;
  return cut;
}
