import type { IncomingMessage } from 'node:http';

/** Host names of local clients. A page that rebinds its own name to 127.0.0.1 sends that name instead. */
const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];
const maxCachedHosts = 256;

/** Returns whether a Host header names this computer. */
export type HostCheck = (request: IncomingMessage) => boolean;

/**
 * Allows the loopback names and the configured names, each with any port, and the local address of the connection,
 * since an address cannot be rebound. Decisions are cached by header text, so that a typical request costs one
 * lookup.
 */
export function allowHosts(names: readonly string[]): HostCheck {
  const allowed = new Set([...loopbackNames, ...names.map((name) => withBrackets(name.toLowerCase()))]);
  const results = new Map<string, boolean>();
  return (request) => {
    const host = request.headers.host;
    if (host === undefined || countHostHeaders(request.rawHeaders) !== 1) return false;
    let isAllowed = results.get(host);
    if (isAllowed === undefined) {
      isAllowed = allowed.has(parseHostName(host) ?? '');
      if (results.size >= maxCachedHosts) results.clear();
      results.set(host, isAllowed);
    }
    return isAllowed || parseHostName(host) === isLocalAddress(request);
  };
}

/** Parses the host name of a Host header: lower case, without port and trailing dot; undefined when invalid. */
function parseHostName(host: string): string | undefined {
  const parts = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_.-]{1,253})(?::\d{1,5})?$/i.exec(host);
  return parts?.[1]?.toLowerCase().replace(/\.$/, '');
}

/** IPv6 addresses have brackets in a Host header, but may lack them in settings. */
function withBrackets(name: string): string {
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
}

function isLocalAddress(request: IncomingMessage): string | undefined {
  const address = request.socket.localAddress;
  if (address === undefined) return undefined;
  return withBrackets(address.startsWith('::ffff:') ? address.slice(7) : address);
}

/** Node uses only the first of several Host headers; a proxy may have checked another one. */
function countHostHeaders(raw: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index];
    if (name !== undefined && name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
