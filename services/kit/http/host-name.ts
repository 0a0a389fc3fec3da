import type { IncomingMessage } from 'node:http';

/** Returns the host of a request without its port, as the client named it: `nas.local`, `[::1]`. */
export function getHostName({ headers }: IncomingMessage): string {
  return (headers.host ?? '').replace(/:\d*$/, '');
}
