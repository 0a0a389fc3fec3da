import type { IncomingMessage } from 'node:http';

/** The header in which our own pages send the secret of their session. Never a cookie: those go to every port of this machine. */
export const sessionHeader = 'homeport-session';

/** The secret of a session that a request brings, if any. */
export function sessionOf(request: IncomingMessage): string | undefined {
  const given = request.headers[sessionHeader];
  return typeof given === 'string' ? given : undefined;
}

/** What a link holds: the path that it lets a browser read by its address alone, and the text that says so. */
export interface SessionLink {
  readonly path: string;
  readonly text: string;
}

const prefix = '/api/linked/';

/** Where a link leads. */
export function addressOfLink({ path, text }: SessionLink): string {
  return `${prefix}${text}${path}`;
}

/** The path that a request is about, and the link that it came by, if any. */
export function readLink(path: string): { readonly path: string; readonly link?: SessionLink } {
  const end = path.startsWith(prefix) ? path.indexOf('/', prefix.length) : -1;
  if (end < 0) return { path };
  const link = { path: path.slice(end), text: path.slice(prefix.length, end) };
  return { path: link.path, link };
}
