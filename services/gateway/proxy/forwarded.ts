import type { IncomingMessage } from 'node:http';

/** What proxies write of the client and of who signed in: from anybody else it is made up. */
const ofProxies =
  /^(?:forwarded|x-forwarded-.+|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip|x-original-(?:url|uri|host)|x-rewrite-url|(?:x-)?remote-(?:user|groups|email|name)|x-auth-request-.+|x-authentik-.+|x-webauth-.+|tailscale-user-.+|cf-access-.+)$/;

/** Services that look at such headers by themselves must not be told stories. */
export function dropForwarded(request: IncomingMessage): void {
  const { headers, rawHeaders } = request;
  const found = Object.keys(headers).filter((name) => ofProxies.test(name));
  if (found.length === 0) return;
  for (const name of found) delete headers[name];
  request.rawHeaders = rawHeaders.filter(
    (_each, index) => !ofProxies.test((rawHeaders[index - (index % 2)] ?? '').toLowerCase()),
  );
}
