import { externalServiceName } from '../../contracts/gateway/external-service-name.ts';

/** External web service whose address an administrator entered. */
export interface Upstream {
  readonly id: string;
  readonly url: string;
  /** `h2c`: HTTP/2 without TLS. */
  readonly protocol: 'http' | 'https' | 'h2c';
  readonly host: string;
  readonly port: number;
}

/** Format of an entry: `photos=http://192.168.1.5:2342`. */
export const upstreamPattern = new RegExp(`^(${externalServiceName})=((?:https?|h2c)://[^\\s/?#@]+)/?$`);

/** Host header entry: `torrents=127.0.0.1:8080`. */
export const upstreamHostPattern = new RegExp(
  `^(${externalServiceName})=((?:[A-Za-z0-9_.-]+|\\[[0-9a-fA-F:.]+\\])(?::\\d{1,5})?)$`,
);

/** Returns the configured Host header of an upstream, if any. */
export function findUpstreamHost(id: string, entries: readonly string[]): string | undefined {
  return entries.map((entry) => upstreamHostPattern.exec(entry)).find((parts) => parts?.[1] === id)?.[2];
}

/** Returns undefined for malformed text. */
export function parseUpstream(text: string): Upstream | undefined {
  const [, id = '', address = ''] = upstreamPattern.exec(text) ?? [];
  const isHttp2 = address.startsWith('h2c:');
  const url = URL.parse(address.replace(/^h2c:/, 'http:'));
  if (url === null || url.pathname !== '/' || url.hostname === '') return undefined;
  const protocol = isHttp2 ? 'h2c' : url.protocol === 'https:' ? 'https' : 'http';
  const port = url.port === '' ? (protocol === 'https' ? 443 : 80) : Number(url.port);
  return { id, url: `${protocol}://${url.host}`, protocol, host: url.hostname.replace(/^\[|\]$/g, ''), port };
}
