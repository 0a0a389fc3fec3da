import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context, Vault } from '../../contracts/service.ts';

/** As long as browsers keep any: the session in it ends 30 days after its last use. */
const lifeSeconds = 400 * 24 * 60 * 60;

/**
 * Browsers send a cookie to every port of a host, so its name has the port, and what it holds is sealed for one host and
 * port: at any other it opens nothing, and nobody who gets hold of it learns the secret of the session.
 */
export class SessionCookie {
  readonly #vault: Vault;
  readonly #publicUrl: Context['publicUrl'];

  constructor({ vault, publicUrl }: Pick<Context, 'vault' | 'publicUrl'>) {
    this.#vault = vault;
    this.#publicUrl = publicUrl;
  }

  /** The secret of the session that a request brings for the host and port it came to. */
  read(request: IncomingMessage): string | undefined {
    return this.#open(request, nameFor(request), this.#purposeOf(request));
  }

  /** What the browser got when it was sent to another provider from here. */
  ticket(request: IncomingMessage): string | undefined {
    return this.#open(request, ticketNameFor(request), this.#ticketPurposeOf(request));
  }

  /** The header that sets it. */
  set(request: IncomingMessage, secret: string): string {
    const value = this.#vault.seal(secret, this.#purposeOf(request));
    return `${nameFor(request)}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${String(lifeSeconds)}`;
  }

  setTicket(request: IncomingMessage, ticket: string, seconds: number): string {
    const value = this.#vault.seal(ticket, this.#ticketPurposeOf(request));
    return `${ticketNameFor(request)}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${String(seconds)}`;
  }

  clearTicket(request: IncomingMessage): string {
    return `${ticketNameFor(request)}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0`;
  }

  #open(request: IncomingMessage, name: string, purpose: string): string | undefined {
    // Of two of one name, one was set by somebody else.
    const found = pairs(request).filter(([key]) => key === name);
    const [, value] = found[0] ?? [];
    if (value === undefined || found.length > 1) return undefined;
    try {
      return this.#vault.open(value, purpose);
    } catch (error) {
      if (error instanceof Problem) return undefined;
      throw error;
    }
  }

  #ticketPurposeOf(request: IncomingMessage): string {
    return `gateway way to a provider from ${(this.#publicUrl(request) ?? '').toLowerCase()}`;
  }

  #purposeOf(request: IncomingMessage): string {
    return `gateway session at ${(this.#publicUrl(request) ?? '').toLowerCase()}`;
  }

  /** The header that removes it. */
  clear(request: IncomingMessage): string {
    return `${nameFor(request)}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0`;
  }
}

/** No service sees the gateway's cookies. */
export function hideCookies(request: IncomingMessage): void {
  if (request.headers.cookie?.includes(prefix) !== true) return;
  // Only whole pairs are removed; the others stay as the client wrote them, also a cookie without `=`.
  const rest = request.headers.cookie.split(';').filter((pair) => !pair.trimStart().startsWith(prefix));
  const text = rest.join(';').trim();
  if (text === '') delete request.headers.cookie;
  else request.headers.cookie = text;
}

const prefix = '__Host-homeport-';

function nameFor({ socket }: IncomingMessage): string {
  return `${prefix}${String(socket.localPort ?? 0)}`;
}

function ticketNameFor(request: IncomingMessage): string {
  return `${nameFor(request)}-provider`;
}

function pairs({ headers }: IncomingMessage): (readonly [string, string])[] {
  return (headers.cookie ?? '').split(';').map((pair) => {
    const equals = pair.indexOf('=');
    if (equals < 0) return ['', pair.trim()] as const;
    return [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()] as const;
  });
}
