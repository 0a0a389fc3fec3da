/** Of one stretch without a boundary this much is read: a part's body in base64 or quoted-printable, and what is shown of it. */
const stretchBytes = 2 * 1024 * 1024;

/**
 * The source without the inside of what is longer than anybody is shown. Every line that begins with two hyphens stays,
 * since it may be a boundary: so each part keeps its header and its beginning, and a mail of 30 MB costs its reader, who
 * looks at every line, no more than a small one.
 */
export function abridge(raw: Uint8Array): Uint8Array {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  if (bytes.length <= stretchBytes) return raw;
  const kept: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const boundary = bytes.indexOf('\n--', start + 1);
    const end = boundary === -1 ? bytes.length : boundary;
    kept.push(bytes.subarray(start, end - start > stretchBytes ? cutBefore(bytes, start + stretchBytes) : end));
    start = end;
  }
  return Buffer.concat(kept);
}

/** The end of the last whole line, or at least of the last whole character in UTF-8. */
function cutBefore(bytes: Buffer, position: number): number {
  const line = bytes.lastIndexOf('\n', position - 1) + 1;
  if (position - line < 100_000) return line;
  let cut = position;
  while (((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1;
  return cut;
}
