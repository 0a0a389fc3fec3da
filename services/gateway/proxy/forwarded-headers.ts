import type { IncomingMessage } from 'node:http';

/** Headers about the client and the user, which are only accepted from trusted proxies. */
const ofProxies =
  /^(?:forwarded|x-forwarded-.+|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip|x-original-(?:url|uri|host)|x-rewrite-url|(?:x-)?remote-(?:user|groups|email|name)|x-auth-request-.+|x-authentik-.+|x-webauth-.+|tailscale-user-.+|cf-access-.+)$/;

/** Removed, because services could trust these headers. */
export function dropForwarded(request: IncomingMessage): void {
  const { headers, rawHeaders } = request;
  const found = Object.keys(headers).filter((name) => ofProxies.test(name));
  if (found.length === 0) return;
  for (const name of found) delete headers[name];
  request.rawHeaders = rawHeaders.filter(
    (_each, index) => !ofProxies.test((rawHeaders[index - (index % 2)] ?? '').toLowerCase()),
  );
}
