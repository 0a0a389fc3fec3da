/** Maximum number of bytes kept between two boundaries: sufficient for a quoted-printable text body and its preview. */
const maxSectionBytes = 2 * 1024 * 1024;

/**
 * Returns true when an attachment of this size is complete although the source was shortened: quoted-printable is at
 * most three times as long as its content, and anything longer than a section is a file.
 */
export function isComplete(bytes: number): boolean {
  return bytes < maxSectionBytes / 3 || bytes > maxSectionBytes;
}

/** Maximum number of bytes after a boundary that are searched for the part's header. */
const headBytes = 16 * 1024;
/** Base64 files have lines of 76 characters; shorter lines are expensive for the parser. */
const minLineLength = 40;

/**
 * Returns the source without the middle of sections that are longer than any displayed text, and whether it was
 * shortened. Lines that begin with two hyphens are kept, because they may be boundaries: each part keeps its header and
 * beginning, and a mail of 30 MB costs the parser no more than a small one. Base64 files are kept completely, because
 * they are forwarded and have few lines.
 */
export function shortenSource(raw: Uint8Array): { readonly raw: Uint8Array; readonly isShortened: boolean } {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  if (bytes.length <= maxSectionBytes) return { raw, isShortened: false };
  const sections: Uint8Array[] = [];
  let isShortened = false;
  for (let start = 0; start < bytes.length;) {
    const boundary = bytes.indexOf('\n--', start + 1);
    const end = boundary === -1 ? bytes.length : boundary;
    const isKept = end - start <= maxSectionBytes || isFile(bytes.subarray(start, end));
    isShortened ||= !isKept;
    sections.push(bytes.subarray(start, isKept ? end : findCutPosition(bytes, start + maxSectionBytes)));
    start = end;
  }
  return isShortened ? { raw: Buffer.concat(sections), isShortened } : { raw, isShortened };
}

/** Returns true for a base64 part that is not displayed, with lines of regular length. */
function isFile(section: Buffer): boolean {
  const text = section.toString('latin1', 0, headBytes);
  const end = /\r?\n\r?\n/.exec(text)?.index;
  if (end === undefined) return false;
  const header = text.slice(0, end);
  const isDisplayed =
    /^content-type:\s*text\/(plain|html)/im.test(header) && !/^content-disposition:\s*attachment/im.test(header);
  if (isDisplayed || !/^content-transfer-encoding:\s*base64/im.test(header)) return false;
  return countLines(section) * minLineLength < section.length;
}

/** Returns the number of line ends. */
export function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let index = bytes.indexOf(10); index !== -1; index = bytes.indexOf(10, index + 1)) count += 1;
  return count;
}

/** Returns the end of the last complete line, or at least of the last complete UTF-8 character. */
function findCutPosition(bytes: Buffer, position: number): number {
  const line = bytes.lastIndexOf('\n', position - 1) + 1;
  if (position - line < 100_000) return line;
  let cutPosition = position;
  while (((bytes[cutPosition] ?? 0) & 0xc0) === 0x80) cutPosition -= 1;
  return cutPosition;
}
