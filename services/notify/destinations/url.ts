import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

/** Parsed destination URL. Every part is percent-decoded once; its meaning is not checked. */
export interface DestinationUrl {
  /** Lower case. */
  readonly scheme: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** As typed, because tokens are case-sensitive. IPv6 addresses keep their brackets. */
  readonly host: string;
  readonly port: number | undefined;
  /** Segments between slashes, without empty ones. */
  readonly path: readonly string[];
  /** The path as typed, still encoded, `''` or beginning with a slash. */
  readonly rawPath: string;
  /** Arguments in order; the last value of a repeated name applies. Names are lower case. */
  readonly query: ReadonlyMap<string, string>;
  /** `+name=value`: request headers. */
  readonly headers: ReadonlyMap<string, string>;
  /** `-name=value`: query parameters of the request. */
  readonly parameters: ReadonlyMap<string, string>;
  /** `:name=value`: fields of the payload. */
  readonly fields: ReadonlyMap<string, string>;
}

function decode(text: string): string {
  // Malformed sequences are kept unchanged, and the rest of the part is decoded.
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (sequence) => decodePercentEncoding(sequence) ?? sequence);
}

/** Decodes a plus to a space, except at the beginning of a name, where it marks a header. */
function decodeName(text: string): string {
  return text.startsWith('+') ? `+${decode(text.slice(1).replaceAll('+', ' '))}` : decode(text.replaceAll('+', ' '));
}

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const atIndex = text.indexOf(separator);
  return atIndex === -1 ? [text, undefined] : [text.slice(0, atIndex), text.slice(atIndex + separator.length)];
}

function parseQuery(text: string): Pick<DestinationUrl, 'query' | 'headers' | 'parameters' | 'fields'> {
  const query = new Map<string, string>();
  const headers = new Map<string, string>();
  const parameters = new Map<string, string>();
  const fields = new Map<string, string>();
  const prefixed: Readonly<Record<string, Map<string, string>>> = { '+': headers, '-': parameters, ':': fields };
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const [rawName, rawValue = ''] = splitOnce(pair, '=');
    const name = decodeName(rawName);
    const value = decode(rawValue.replaceAll('+', ' '));
    const target = prefixed[name[0] ?? ''];
    if (target === undefined) query.set(name.toLowerCase(), value);
    else if (name.length > 1) target.set(name.slice(1), value);
  }
  return { query, headers, parameters, fields };
}

/**
 * Parses `scheme://user:password@host:port/path?arguments`. The platform's URL class is unsuitable: it rejects,
 * lowercases or reorders parts of valid destination URLs (`push://topic`, `ntfy://My_Topic`, `#` within a path).
 * Returns undefined for text that is not such a URL.
 */
export function parseDestinationUrl(text: string): DestinationUrl | undefined {
  const [, scheme, rest] = /^([a-z0-9][a-z0-9.+_-]*):\/\/(.*)$/is.exec(text.trim()) ?? [];
  // Control characters are invalid in URLs and could reach headers; lone surrogates cannot be encoded.
  if (!text.isWellFormed() || scheme === undefined || rest === undefined || /\p{Cc}/u.test(rest)) return undefined;
  const [address, query = ''] = splitOnce(rest, '?');
  const slash = address.indexOf('/');
  const authority = slash === -1 ? address : address.slice(0, slash);
  const rawPath = slash === -1 ? '' : address.slice(slash).replace(/\s/g, encodePart);
  const atIndex = authority.lastIndexOf('@');
  const [user, password] = atIndex === -1 ? [undefined, undefined] : splitOnce(authority.slice(0, atIndex), ':');
  const hostPart = atIndex === -1 ? authority : authority.slice(atIndex + 1);
  // A bot token contains a colon: `123456789:abcdef`.
  const tokenMatch = /^(?:bot)?\d+:[\w-]*[a-z_-][\w-]*$/i.test(hostPart) ? [hostPart, hostPart] : undefined;
  const [, host = '', portText] = tokenMatch ?? /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(hostPart) ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  // The decoded host is checked as well: platforms remove line breaks, so that another host would be contacted.
  if (/[\p{Cc}\s]/u.test(decode(host))) return undefined;
  if ((host === '' && hostPart !== '') || (port !== undefined && (port < 1 || port > 65_535))) return undefined;
  return {
    scheme: scheme.toLowerCase(),
    user: user === undefined ? undefined : decode(user),
    password: password === undefined ? undefined : decode(password),
    host: decode(host),
    port,
    path: rawPath
      .split('/')
      .filter((segment) => segment !== '')
      .map(decode),
    rawPath,
    ...parseQuery(query),
  };
}

/** Encodes characters that would end or split a part of the URL. */
export function encodePart(text: string): string {
  return encodeURIComponent(text);
}

/** Formats `user:password@`; the password is `****` if masked. Empty without a user. */
export function userInfo(url: Pick<DestinationUrl, 'user' | 'password'>, masked: boolean): string {
  if (url.user === undefined) return '';
  if (url.password === undefined) return `${encodePart(url.user)}@`;
  return `${encodePart(url.user)}:${masked ? '****' : encodePart(url.password)}@`;
}

/** Formats `host` or `host:port`. */
export function hostAndPort(url: Pick<DestinationUrl, 'host' | 'port'>): string {
  // A host may be a token, so characters that would end it are encoded.
  const host = url.host.replace(/[\s/?#@%]/g, encodePart);
  return url.port === undefined ? host : `${host}:${url.port}`;
}

/** Formats the arguments for headers, parameters and fields; their values can be masked. */
export function prefixedArguments(url: DestinationUrl, masked: boolean): readonly string[] {
  const write = (prefix: string, pairs: ReadonlyMap<string, string>, secret: boolean): readonly string[] =>
    [...pairs].map(([name, value]) => `${prefix}${encodePart(name)}=${secret ? '****' : encodePart(value)}`);
  return [
    ...write('%2B', url.headers, masked),
    ...write('-', url.parameters, masked),
    ...write('%3A', url.fields, false),
  ];
}

/** Formats a URL with all its parts; the inverse of `parseDestinationUrl`. */
export function writeDestinationUrl(url: DestinationUrl): string {
  const query = [...url.query].map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`);
  const args = [...query, ...prefixedArguments(url, false)].join('&');
  return `${url.scheme}://${userInfo(url, false)}${hostAndPort(url)}${url.rawPath}${args === '' ? '' : `?${args}`}`;
}
