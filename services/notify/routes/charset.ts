import { isUtf8 } from 'node:buffer';

/** The decoder of the charset a Content-Type names; undefined where it names none, or one that nobody knows. */
function declared(contentType: string): TextDecoder | undefined {
  const [, quoted, bare] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType) ?? [];
  const label = quoted ?? bare;
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function isOfUtf8(decoder: TextDecoder | undefined): boolean {
  return decoder === undefined || decoder.encoding === 'utf-8';
}

const utf8 = new TextDecoder('utf-8');
/** What Western systems write that do not write UTF-8. */
const western = new TextDecoder('windows-1252');

/** Text of bytes as their Content-Type says; where that says nothing, or UTF-8 in vain, as UTF-8 or else windows-1252. */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const decoder = declared(contentType);
  if (decoder !== undefined && !isOfUtf8(decoder)) return decoder.decode(bytes);
  return (isUtf8(bytes) ? utf8 : western).decode(bytes);
}

/** JSON is UTF-8 unless its Content-Type says otherwise; undefined where it is not. */
export function decodeJson(bytes: Uint8Array, contentType: string): string | undefined {
  const decoder = declared(contentType);
  if (decoder !== undefined && !isOfUtf8(decoder)) return decoder.decode(bytes);
  return isUtf8(bytes) ? utf8.decode(bytes) : undefined;
}

/** The same of text that was read byte by byte; what has other characters than bytes can have is decoded already. */
export function decodeBytes(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  return bytes.toString('latin1') === text ? decodeText(bytes, '') : text;
}

/** Names and values of a form, in the charset of its Content-Type, or in the one that fits all of them. */
export function decodeForm(
  bytes: Uint8Array,
  contentType: string,
): readonly (readonly [name: string, value: string])[] {
  const decoder = declared(contentType);
  if (isOfUtf8(decoder) && isUtf8(bytes)) {
    const pairs = [...new URLSearchParams(utf8.decode(bytes))];
    if (!pairs.some((pair) => pair.some((text) => text.includes('\ufffd')))) return pairs;
  }
  const pairs = Buffer.from(bytes)
    .toString('latin1')
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [unescapeBytes(name), unescapeBytes(value.join('='))] as const;
    });
  const whole = Buffer.from(pairs.flat().join(''), 'latin1');
  const chosen = decoder !== undefined && !isOfUtf8(decoder) ? decoder : isUtf8(whole) ? utf8 : western;
  const decode = (text: string): string => chosen.decode(Buffer.from(text, 'latin1'));
  return pairs.map(([name, value]) => [decode(name), decode(value)]);
}

function unescapeBytes(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_escape, digits: string) => String.fromCharCode(parseInt(digits, 16)));
}
