import type { IncomingMessage } from 'node:http';

/**
 * Header in which the pages send the session secret. Not a cookie, since cookies are sent to every port of the
 * computer.
 */
export const sessionHeader = 'homeport-session';

/** Returns the session secret of a request, if any. */
export function findSessionSecret(request: IncomingMessage): string | undefined {
  const header = request.headers[sessionHeader];
  return typeof header === 'string' ? header : undefined;
}

/** Link that lets a browser read one path without headers, with the text that authorizes it. */
export interface SessionLink {
  readonly path: string;
  readonly text: string;
}

const linkPathPrefix = '/api/linked/';

/** Returns the path of a link. */
export function formatSessionLink({ path, text }: SessionLink): string {
  return `${linkPathPrefix}${text}${path}`;
}

/** Splits the path of a request into the requested path and the link, if any. */
export function parseSessionLink(path: string): { readonly path: string; readonly link?: SessionLink } {
  const end = path.startsWith(linkPathPrefix) ? path.indexOf('/', linkPathPrefix.length) : -1;
  if (end < 0) return { path };
  const link = { path: path.slice(end), text: path.slice(linkPathPrefix.length, end) };
  return { path: link.path, link };
}
