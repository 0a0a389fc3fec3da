/** Another machine's web service, or another program of this one, whose address the owner typed. */
export interface Upstream {
  readonly id: string;
  readonly url: string;
  readonly protocol: 'http' | 'https';
  readonly host: string;
  readonly port: number;
}

/** How one stands in the settings: `photos=http://192.168.1.5:2342`. */
export const upstreamText = /^([a-z][a-z0-9]{0,31})=(https?:\/\/[^\s/?#@]+)\/?$/;

/** Undefined for what is no such text. */
export function upstreamOf(text: string): Upstream | undefined {
  const [, id = '', address = ''] = upstreamText.exec(text) ?? [];
  const url = URL.parse(address);
  if (url === null || url.pathname !== '/' || url.hostname === '') return undefined;
  const protocol = url.protocol === 'https:' ? 'https' : 'http';
  const port = url.port === '' ? (protocol === 'https' ? 443 : 80) : Number(url.port);
  return { id, url: url.origin, protocol, host: url.hostname.replace(/^\[|\]$/g, ''), port };
}
