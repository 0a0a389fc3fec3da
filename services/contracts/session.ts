import type { IncomingMessage } from 'node:http';

/** The header in which our own pages send the secret of their session. Never a cookie: those go to every port of this machine. */
export const sessionHeader = 'homeport-session';

/** The secret of a session that a request brings, if any. */
export function findSessionSecret(request: IncomingMessage): string | undefined {
  const header = request.headers[sessionHeader];
  return typeof header === 'string' ? header : undefined;
}

/** What a link holds: the path that it lets a browser read by its address alone, and the text that says so. */
export interface SessionLink {
  readonly path: string;
  readonly text: string;
}

const linkPathPrefix = '/api/linked/';

/** Where a link leads. */
export function formatSessionLink({ path, text }: SessionLink): string {
  return `${linkPathPrefix}${text}${path}`;
}

/** The path that a request is about, and the link that it came by, if any. */
export function parseSessionLink(path: string): { readonly path: string; readonly link?: SessionLink } {
  const end = path.startsWith(linkPathPrefix) ? path.indexOf('/', linkPathPrefix.length) : -1;
  if (end < 0) return { path };
  const link = { path: path.slice(end), text: path.slice(linkPathPrefix.length, end) };
  return { path: link.path, link };
}
