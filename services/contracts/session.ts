import type { IncomingMessage } from 'node:http';

/** The header in which our own pages send the secret of their session. Never a cookie: those go to every port of this machine. */
export const sessionHeader = 'homeport-session';

/** The secret of a session that a request brings, if any. */
export function sessionOf(request: IncomingMessage): string | undefined {
  const given = request.headers[sessionHeader];
  return typeof given === 'string' ? given : undefined;
}
