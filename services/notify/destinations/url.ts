/** A destination URL taken apart without any judgement; every part is percent-decoded once. */
export interface DestinationUrl {
  /** Lower case. */
  readonly scheme: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** As typed: for token-like schemes its case matters. IPv6 keeps its brackets. */
  readonly host: string;
  readonly port: number | undefined;
  /** Segments between slashes, empty ones dropped. */
  readonly path: readonly string[];
  /** The path as typed, still encoded, `''` or beginning with a slash. */
  readonly rawPath: string;
  /** Arguments in order; of a name given twice the last counts. Names are lower case. */
  readonly query: ReadonlyMap<string, string>;
  /** `+name=value`: request headers. */
  readonly headers: ReadonlyMap<string, string>;
  /** `-name=value`: query parameters of the request. */
  readonly parameters: ReadonlyMap<string, string>;
  /** `:name=value`: fields of the payload. */
  readonly fields: ReadonlyMap<string, string>;
}

function decode(text: string): string {
  // Malformed sequences stay as they are, one by one, instead of spoiling the whole part.
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (sequence) => {
    try {
      return decodeURIComponent(sequence);
    } catch (error) {
      if (error instanceof URIError) return sequence;
      throw error;
    }
  });
}

/** A plus is a space, but not where it begins a name: there it marks a header. */
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
 * Takes `scheme://user:password@host:port/path?arguments` apart. The URL class of the platform is of no use here: it
 * refuses, lower-cases or reorders much of what people have in their configurations (`push://topic`, `ntfy://My_Topic`, `#`
 * within a path). Undefined when the text is no such URL.
 */
export function parseDestinationUrl(text: string): DestinationUrl | undefined {
  const [, scheme, rest] = /^([a-z0-9][a-z0-9.+_-]*):\/\/(.*)$/is.exec(text.trim()) ?? [];
  // Control characters have no place in a URL and would end up in headers; torn ones cannot be encoded.
  if (!text.isWellFormed() || scheme === undefined || rest === undefined || /\p{Cc}/u.test(rest)) return undefined;
  const [address, query = ''] = splitOnce(rest, '?');
  const slash = address.indexOf('/');
  const authority = slash === -1 ? address : address.slice(0, slash);
  const rawPath = slash === -1 ? '' : address.slice(slash).replace(/\s/g, encodePart);
  const atIndex = authority.lastIndexOf('@');
  const [user, password] = atIndex === -1 ? [undefined, undefined] : splitOnce(authority.slice(0, atIndex), ':');
  const hostPart = atIndex === -1 ? authority : authority.slice(atIndex + 1);
  // A bot's token has a colon of its own: `123456789:abcdef`.
  const tokenMatch = /^(?:bot)?\d+:[\w-]*[a-z_-][\w-]*$/i.test(hostPart) ? [hostPart, hostPart] : undefined;
  const [, host = '', portText] = tokenMatch ?? /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(hostPart) ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  // Once more for the host: platforms drop line breaks from it, so that another host would be asked.
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

/** Encodes what would end or split the part it stands in. */
export function encodePart(text: string): string {
  return encodeURIComponent(text);
}

/** `user:password@`, with `****` for the password on demand; empty without a user. */
export function userInfo(url: Pick<DestinationUrl, 'user' | 'password'>, masked: boolean): string {
  if (url.user === undefined) return '';
  if (url.password === undefined) return `${encodePart(url.user)}@`;
  return `${encodePart(url.user)}:${masked ? '****' : encodePart(url.password)}@`;
}

/** `host` or `host:port`. */
export function hostAndPort(url: Pick<DestinationUrl, 'host' | 'port'>): string {
  // A host may be a token: what would end it there is encoded again.
  const host = url.host.replace(/[\s/?#@%]/g, encodePart);
  return url.port === undefined ? host : `${host}:${url.port}`;
}

/** The arguments that mark headers, parameters and fields, written back; their values masked on demand. */
export function prefixedArguments(url: DestinationUrl, masked: boolean): readonly string[] {
  const write = (prefix: string, pairs: ReadonlyMap<string, string>, secret: boolean): readonly string[] =>
    [...pairs].map(([name, value]) => `${prefix}${encodePart(name)}=${secret ? '****' : encodePart(value)}`);
  return [
    ...write('%2B', url.headers, masked),
    ...write('-', url.parameters, masked),
    ...write('%3A', url.fields, false),
  ];
}

/** The URL again, with everything it holds; what `parseDestinationUrl` takes apart. */
export function writeDestinationUrl(url: DestinationUrl): string {
  const query = [...url.query].map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`);
  const args = [...query, ...prefixedArguments(url, false)].join('&');
  return `${url.scheme}://${userInfo(url, false)}${hostAndPort(url)}${url.rawPath}${args === '' ? '' : `?${args}`}`;
}
