import { withoutQuerySecrets } from './address-secrets.ts';

/** An address whose download is refused before anything is fetched. `msg` is the peer's own text. */
export interface Refusal {
  readonly msg: string;
}

/** A URL that may be tried, or the reason why not. */
export function parseAddress(given: string): URL | Refusal {
  const text = withScheme(given.trim());
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { msg: `ERROR: [generic] '${text}' is not a valid URL` };
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { msg: `URL scheme "${url.protocol.slice(0, -1)}" is not allowed (only http and https)` };
  }
  return url;
}

/** Adds the scheme that yt-dlp tries for an address without one, such as `youtube.com/watch?v=…` or `127.0.0.1:8080/video`. */
function withScheme(text: string): string {
  if (text.startsWith('//')) return `http:${text}`;
  const isHost = /^(?:[^\s/:@?#]+\.[^\s/:@?#]+|localhost|\[[0-9a-f:.]+\])(?::\d{1,5})?\//i.test(text);
  const isPort = /^[a-z0-9.-]+:\d{1,5}(?:[/?#]|$)/i.test(text);
  return isHost || isPort ? `http://${text}` : text;
}

/** Whether it is an address of YouTube. */
export function isYouTube({ hostname }: URL): boolean {
  return /(^|\.)(youtube\.com|youtu\.be)$/.test(hostname);
}

/** YouTube's `t=` is a position to look at, not another video: two links that differ in it are one. */
export function withoutPosition(url: URL): string {
  if (!isYouTube(url) || !url.searchParams.has('t')) return url.href;
  const plain = new URL(url);
  plain.searchParams.delete('t');
  return plain.href;
}

/** An address as it may be shown, and the `name:password` that stood in it, still percent-encoded. */
export function splitLogin(address: string): { readonly shown: string; readonly login: string | null } {
  const url = URL.parse(address);
  if (url === null) {
    // It is refused, and shown as what was refused.
    const [all, scheme = '', login] = /^([^:/?#]+:\/\/)([^/?#]*)@/.exec(address) ?? [];
    return login === undefined
      ? { shown: address, login: null }
      : { shown: scheme + address.slice(all?.length), login };
  }
  if (url.username === '' && url.password === '') return { shown: address, login: null };
  const login = `${url.username}:${url.password}`;
  url.username = '';
  url.password = '';
  return { shown: url.href, login };
}

/** The address with its login in it again. */
export function joinLogin(shown: string, login: string): string {
  const [, scheme = '', rest = ''] = /^([^:]+:\/\/)(.*)$/s.exec(shown) ?? [];
  return `${scheme}${login}@${rest}`;
}

/** Text without the logins and the secrets of the addresses in it. */
export function withoutSecrets(text: string): string {
  return withoutQuerySecrets(text.replace(/(:\/\/)[^\s/?#'"]*@/g, '$1'));
}

export function internalAddress(address: string, host: string): Refusal {
  return { msg: `Refusing to fetch internal address "${address}" for host "${host}"` };
}

/** Whether an IP address (v4 or v6 text) is one of this machine, this network or of no host at all. RFC 6890. */
export function isInternal(address: string): boolean {
  const plain = address.replace(/%.*$/, '').toLowerCase();
  if (plain.includes('.') && !plain.includes(':')) return isInternal4(plain);
  const words = eightWords(plain);
  if (words === undefined) return true;
  const [first = 0, second = 0] = words;
  const embedded = `${words[6]! >> 8}.${words[6]! & 255}.${words[7]! >> 8}.${words[7]! & 255}`;
  const leadingZeros = words.slice(0, 5).every((word) => word === 0);
  // Mapped and compatible IPv4, ::, ::1, NAT64 and 6to4 lead to the IPv4 address inside them.
  if (leadingZeros && (words[5] === 0xffff || words[5] === 0)) return isInternal4(embedded);
  if (first === 0x64 && second === 0xff9b) return isInternal4(embedded);
  if (first === 0x2002) return isInternal4(`${second >> 8}.${second & 255}.${words[2]! >> 8}.${words[2]! & 255}`);
  return (
    (first & 0xfe00) === 0xfc00 ||
    (first & 0xffc0) === 0xfe80 ||
    (first & 0xff00) === 0xff00 ||
    (first & 0xffc0) === 0xfec0 ||
    (first === 0x2001 && (second === 0xdb8 || second === 0)) ||
    first === 0x100
  );
}

function isInternal4(address: string): boolean {
  const parts = address.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255)) return true;
  const [a = 0, b = 0, c = 0] = parts;
  if (a === 0 || a === 10 || a === 127 || a >= 224) return true;
  if (a === 100) return b >= 64 && b <= 127;
  if (a === 169) return b === 254;
  if (a === 172) return b >= 16 && b <= 31;
  if (a === 198) return b === 18 || b === 19 || (b === 51 && c === 100);
  if (a === 192) return b === 168 || (b === 0 && (c === 0 || c === 2)) || (b === 88 && c === 99);
  return a === 203 && b === 0 && c === 113;
}

/** The eight words of an IPv6 address; undefined when it is none. */
function eightWords(text: string): readonly number[] | undefined {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  let plain = text;
  if (dotted !== null) {
    const [, head = '', a, b, c, d] = dotted;
    plain = `${head}${((Number(a) << 8) | Number(b)).toString(16)}:${((Number(c) << 8) | Number(d)).toString(16)}`;
  }
  const [head = '', tail, more] = plain.split('::');
  if (more !== undefined) return undefined;
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16));
  const before = parse(head);
  const after = tail === undefined ? [] : parse(tail);
  const gap = 8 - before.length - after.length;
  if (tail === undefined ? gap !== 0 : gap < 1) return undefined;
  const words = [...before, ...Array<number>(gap).fill(0), ...after];
  return words.every((word) => word >= 0 && word <= 0xffff) ? words : undefined;
}
