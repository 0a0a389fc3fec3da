interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  /** Without a Domain attribute the cookie is only sent to the host that set it. */
  readonly hostOnly: boolean;
  readonly path: string;
  readonly secure: boolean;
}

const maxCookies = 50;
const maxCookieLength = 4096;

/** Stores the cookies of one check, which servers set on a redirect and expect after it (RFC 6265). */
export class CookieJar {
  readonly #cookies = new Map<string, Cookie>();

  /** Stores the `Set-Cookie` headers of a response. */
  store(url: URL, headers: readonly string[]): void {
    for (const header of headers) {
      const cookie = header.length > maxCookieLength ? undefined : parseCookie(url, header);
      if (cookie === undefined) continue;
      const key = `${cookie.domain}\n${cookie.path}\n${cookie.name}`;
      if (isExpired(header)) this.#cookies.delete(key);
      else if (this.#cookies.has(key) || this.#cookies.size < maxCookies) this.#cookies.set(key, cookie);
    }
  }

  /**
   * Returns the `Cookie` header for a request; undefined without cookies.
   * @param monitorCookie Cookie header that the monitor configures
   */
  header(url: URL, monitorCookie: string | undefined): string | undefined {
    const matching = [...this.#cookies.values()].filter((cookie) => matchesUrl(cookie, url));
    const parts = [
      ...(monitorCookie === undefined ? [] : [monitorCookie]),
      ...matching.map(({ name, value }) => `${name}=${value}`),
    ];
    return parts.length === 0 ? undefined : parts.join('; ');
  }
}

function parseCookie(url: URL, header: string): Cookie | undefined {
  const [pair = '', ...attributes] = header.split(';').map((part) => part.trim());
  const equals = pair.indexOf('=');
  if (equals < 1) return undefined;
  const attributeMap = new Map(
    attributes.map((attribute) => {
      const [name = '', ...value] = attribute.split('=');
      return [name.toLowerCase(), value.join('=').trim()] as const;
    }),
  );
  const host = url.hostname.toLowerCase();
  const domain = (attributeMap.get('domain') ?? '').replace(/^\./, '').toLowerCase();
  // A domain without a dot is a top-level domain.
  if (domain !== '' && domain !== host && (!host.endsWith(`.${domain}`) || !domain.includes('.'))) return undefined;
  const path = attributeMap.get('path') ?? '';
  return {
    name: pair.slice(0, equals),
    value: pair.slice(equals + 1),
    domain: domain === '' ? host : domain,
    hostOnly: domain === '',
    path: path.startsWith('/') ? path : (/^(\/.*)\//.exec(url.pathname)?.[1] ?? '/'),
    secure: attributeMap.has('secure'),
  };
}

function isExpired(header: string): boolean {
  const maxAge = /;\s*max-age=(-?\d+)/i.exec(header)?.[1];
  if (maxAge !== undefined) return Number(maxAge) <= 0;
  const expires = Date.parse(/;\s*expires=([^;]+)/i.exec(header)?.[1] ?? '');
  return expires <= Date.now();
}

function matchesUrl({ domain, hostOnly, path, secure }: Cookie, { hostname, pathname, protocol }: URL): boolean {
  const host = hostname.toLowerCase();
  const isHost = host === domain || (!hostOnly && host.endsWith(`.${domain}`));
  const isPath = pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
  return isHost && isPath && (!secure || protocol === 'https:');
}
