import type { IncomingMessage } from 'node:http';

/** Names under which a local client reaches us. A page that rebinds its own name to 127.0.0.1 sends that name instead. */
const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];
const remembered = 256;

/** Answers whether a Host header names this machine. */
export type HostCheck = (request: IncomingMessage) => boolean;

/**
 * Allows the loopback names, the configured names, each with any port, and the very address the connection came in on
 * (an address cannot be rebound). Decisions are remembered by header text, so the usual request costs one lookup.
 */
export function allowHosts(names: readonly string[]): HostCheck {
  const allowed = new Set([...loopbackNames, ...names.map((name) => bracketed(name.toLowerCase()))]);
  const decided = new Map<string, boolean>();
  return (request) => {
    const host = request.headers.host;
    if (host === undefined || hostHeaders(request.rawHeaders) !== 1) return false;
    let isAllowed = decided.get(host);
    if (isAllowed === undefined) {
      isAllowed = allowed.has(nameOf(host) ?? '');
      if (decided.size >= remembered) decided.clear();
      decided.set(host, isAllowed);
    }
    return isAllowed || nameOf(host) === ownAddress(request);
  };
}

/** Host name of a Host header, lower case, without port and closing dot; undefined when it is none. */
function nameOf(host: string): string | undefined {
  const parts = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_.-]{1,253})(?::\d{1,5})?$/i.exec(host);
  return parts?.[1]?.toLowerCase().replace(/\.$/, '');
}

/** IPv6 addresses stand in brackets in a Host header; settings may leave them out. */
function bracketed(name: string): string {
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
}

function ownAddress(request: IncomingMessage): string | undefined {
  const address = request.socket.localAddress;
  if (address === undefined) return undefined;
  return bracketed(address.startsWith('::ffff:') ? address.slice(7) : address);
}

/** Node keeps only the first of several Host headers; a proxy in front may have looked at another. */
function hostHeaders(raw: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index];
    if (name !== undefined && name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
