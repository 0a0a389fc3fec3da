import type { IncomingMessage } from 'node:http';

/** Headers about the client and the user, which are only accepted from trusted proxies. */
const proxyHeaders = [
  'forwarded',
  'x-forwarded-.+',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'x-original-(?:url|uri|host)',
  'x-rewrite-url',
  '(?:x-)?remote-(?:user|groups|email|name)',
  'x-auth-request-.+',
  'x-authentik-.+',
  'x-webauth-.+',
  'tailscale-user-.+',
  'cf-access-.+',
];
const proxyHeaderPattern = new RegExp(`^(?:${proxyHeaders.join('|')})$`);

/** Removed, because services could trust these headers. */
export function removeProxyHeaders(request: IncomingMessage): void {
  const { headers, rawHeaders } = request;
  const proxyHeaders = Object.keys(headers).filter((name) => proxyHeaderPattern.test(name));
  if (proxyHeaders.length === 0) return;
  for (const name of proxyHeaders) delete headers[name];
  request.rawHeaders = rawHeaders.filter(
    (_each, index) => !proxyHeaderPattern.test((rawHeaders[index - (index % 2)] ?? '').toLowerCase()),
  );
}
