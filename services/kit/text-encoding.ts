import { isUtf8 } from 'node:buffer';

/** Decoded text with the encoding of its bytes. */
export interface DecodedText {
  readonly text: string;
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  /** True when encoding the text as UTF-8 yields the same bytes. */
  readonly exact: boolean;
}

/** Number of leading bytes that decide whether a file is text. */
const examinedBytes = 8000;

/**
 * Decodes a text for display: valid UTF-8, UTF-16 with a byte order mark or with the zeros of Latin text, else
 * windows-1252, as old editors wrote it. Undefined for binary data.
 */
export function decodeText(bytes: Uint8Array): DecodedText | undefined {
  const start = bytes.subarray(0, examinedBytes);
  if (start[0] === 0xff && start[1] === 0xfe) return decodeWith(bytes, 'utf-16le');
  if (start[0] === 0xfe && start[1] === 0xff) return decodeWith(bytes, 'utf-16be');
  if (start.includes(0)) {
    const order = detectByteOrder(start);
    return order === undefined ? undefined : decodeWith(bytes, order);
  }
  if (!isUtf8(bytes)) return decodeWith(bytes, 'windows-1252');
  return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), encoding: 'utf-8', exact: true };
}

/**
 * Decodes lines that may have different encodings, such as a patch that converts a file: UTF-8 where a line is valid,
 * else windows-1252.
 */
export function decodeLines(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return Buffer.from(bytes)
    .toString('latin1')
    .split('\n')
    .map((line) => {
      const lineBytes = Buffer.from(line, 'latin1');
      return isUtf8(lineBytes) ? lineBytes.toString() : new TextDecoder('windows-1252').decode(lineBytes);
    })
    .join('\n');
}

function decodeWith(bytes: Uint8Array, encoding: Exclude<DecodedText['encoding'], 'utf-8'>): DecodedText {
  return { text: new TextDecoder(encoding).decode(bytes), encoding, exact: false };
}

/** Detects UTF-16 without a byte order mark: in mostly Latin text every other byte is zero. */
function detectByteOrder(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const even = bytes.length - (bytes.length % 2);
  if (even < 4) return undefined;
  let [evenZeros, oddZeros] = [0, 0];
  for (let index = 0; index < even; index += 2) {
    if (bytes[index] === 0) evenZeros += 1;
    if (bytes[index + 1] === 0) oddZeros += 1;
  }
  const half = even / 2;
  if (evenZeros === 0 && oddZeros > half * 0.7) return 'utf-16le';
  return oddZeros === 0 && evenZeros > half * 0.7 ? 'utf-16be' : undefined;
}
