import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context, Vault } from '../../contracts/service.ts';

/** Maximum lifetime in browsers; the session ends 30 days after its last use. */
const maxAgeSeconds = 400 * 24 * 60 * 60;

/**
 * Session cookie of one host and port. Browsers send cookies to every port of a host, so the name contains the port,
 * and the value is sealed for the host and port. The cookie is useless elsewhere and does not reveal the session
 * secret.
 */
export class SessionCookie {
  readonly #vault: Vault;
  readonly #publicUrl: Context['publicUrl'];

  constructor({ vault, publicUrl }: Pick<Context, 'vault' | 'publicUrl'>) {
    this.#vault = vault;
    this.#publicUrl = publicUrl;
  }

  /** Returns the session secret of a request for its host and port. */
  read(request: IncomingMessage): string | undefined {
    return this.#open(request, getCookieName(request), this.#getPurpose(request));
  }

  /** Returns the ticket of a pending sign-in at the provider. */
  ticket(request: IncomingMessage): string | undefined {
    return this.#open(request, getTicketCookieName(request), this.#getTicketPurpose(request));
  }

  /** Returns the `Set-Cookie` header. */
  set(request: IncomingMessage, secret: string): string {
    const value = this.#vault.seal(secret, this.#getPurpose(request));
    return `${getCookieName(request)}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${String(maxAgeSeconds)}`;
  }

  setTicket(request: IncomingMessage, ticket: string, seconds: number): string {
    const value = this.#vault.seal(ticket, this.#getTicketPurpose(request));
    return `${getTicketCookieName(request)}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${String(seconds)}`;
  }

  clearTicket(request: IncomingMessage): string {
    return `${getTicketCookieName(request)}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0`;
  }

  #open(request: IncomingMessage, name: string, purpose: string): string | undefined {
    // Duplicate names indicate a cookie of another origin.
    const matches = parseCookies(request).filter(([key]) => key === name);
    const [, value] = matches[0] ?? [];
    if (value === undefined || matches.length > 1) return undefined;
    try {
      return this.#vault.open(value, purpose);
    } catch (error) {
      if (error instanceof Problem) return undefined;
      throw error;
    }
  }

  #getTicketPurpose(request: IncomingMessage): string {
    return `gateway way to a provider from ${(this.#publicUrl(request) ?? '').toLowerCase()}`;
  }

  #getPurpose(request: IncomingMessage): string {
    return `gateway session at ${(this.#publicUrl(request) ?? '').toLowerCase()}`;
  }

  /** Returns the `Set-Cookie` header that deletes the cookie. */
  clear(request: IncomingMessage): string {
    return `${getCookieName(request)}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0`;
  }
}

/** Removes the cookies of the gateway before a request is forwarded. */
export function hideCookies(request: IncomingMessage): void {
  if (request.headers.cookie?.includes(cookiePrefix) !== true) return;
  // Complete pairs are removed; the remaining text is unchanged, including cookies without `=`.
  const remaining = request.headers.cookie.split(';').filter((pair) => !pair.trimStart().startsWith(cookiePrefix));
  const text = remaining.join(';').trim();
  if (text === '') delete request.headers.cookie;
  else request.headers.cookie = text;
}

const cookiePrefix = '__Host-homeport-';

function getCookieName({ socket }: IncomingMessage): string {
  return `${cookiePrefix}${String(socket.localPort ?? 0)}`;
}

function getTicketCookieName(request: IncomingMessage): string {
  return `${getCookieName(request)}-provider`;
}

function parseCookies({ headers }: IncomingMessage): (readonly [string, string])[] {
  return (headers.cookie ?? '').split(';').map((pair) => {
    const equals = pair.indexOf('=');
    if (equals < 0) return ['', pair.trim()] as const;
    return [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()] as const;
  });
}
