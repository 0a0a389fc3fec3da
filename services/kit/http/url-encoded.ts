import { decodeAs, detectCharset } from '../charset.ts';

function unescapeBytes(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_escape, digits: string) => String.fromCharCode(parseInt(digits, 16)));
}

/**
 * Parses names and values of a form or a query. All share one charset, detected by {@link detectCharset} from their
 * unescaped bytes together.
 */
export function parseUrlEncoded(
  bytes: Uint8Array,
  charset?: string,
): readonly (readonly [name: string, value: string])[] {
  const pairs = Buffer.from(bytes)
    .toString('latin1')
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [unescapeBytes(name), unescapeBytes(value.join('='))] as const;
    });
  const decoder = detectCharset(Buffer.from(pairs.flat().join(''), 'latin1'), charset);
  const decode = (text: string): string => decodeAs(Buffer.from(text, 'latin1'), decoder);
  return pairs.map(([name, value]) => [decode(name), decode(value)]);
}

/** Parses a query; its escapes may encode windows-1252 bytes, as old devices write them. */
export function parseQuery(query: string): URLSearchParams {
  const params = new URLSearchParams(query);
  if (!/%[89a-f]/i.test(query) || ![...params].some((pair) => pair.some((text) => text.includes('\ufffd'))))
    return params;
  return new URLSearchParams(parseUrlEncoded(Buffer.from(query)).map(([name, value]) => [name, value]));
}
