import type { FailureCode } from '../../contracts/downloads/causes.ts';
import { withoutQuerySecrets } from './address-secrets.ts';

/** Refusal of an address before anything is fetched. `msg` is MeTube's text; pages show the text of the cause. */
export interface Refusal {
  readonly msg: string;
  readonly failure?: FailureCode;
}

/** Parses an address; returns the reason when it is refused. */
export function parseAddress(input: string): URL | Refusal {
  const text = withScheme(input.trim());
  const url = URL.parse(text);
  if (url === null) return { msg: `ERROR: [generic] '${text}' is not a valid URL`, failure: 'invalid_address' };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    const msg = `URL scheme "${url.protocol.slice(0, -1)}" is not allowed (only http and https)`;
    return { msg, failure: 'scheme_not_supported' };
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

export function isYouTube({ hostname }: URL): boolean {
  return /(^|\.)(youtube\.com|youtu\.be)$/.test(hostname);
}

/** Removes YouTube's `t=`, a start position: two links that differ only in it are the same video. */
export function withoutPosition(url: URL): string {
  if (!isYouTube(url) || !url.searchParams.has('t')) return url.href;
  const withoutTime = new URL(url);
  withoutTime.searchParams.delete('t');
  return withoutTime.href;
}

/** Separates an address into a displayable form and its `name:password`, still percent-encoded. */
export function splitLogin(address: string): { readonly displayUrl: string; readonly login: string | null } {
  const url = URL.parse(address);
  if (url === null) {
    // An invalid address is refused later; its text is shown without the login.
    const [prefix, scheme = '', login] = /^([^:/?#]+:\/\/)([^/?#]*)@/.exec(address) ?? [];
    return login === undefined
      ? { displayUrl: address, login: null }
      : { displayUrl: scheme + address.slice(prefix?.length), login };
  }
  if (url.username === '' && url.password === '') return { displayUrl: address, login: null };
  const login = `${url.username}:${url.password}`;
  url.username = '';
  url.password = '';
  return { displayUrl: url.href, login };
}

/** Restores the login in a displayable address. */
export function joinLogin(displayUrl: string, login: string): string {
  const [, scheme = '', rest = ''] = /^([^:]+:\/\/)(.*)$/s.exec(displayUrl) ?? [];
  return `${scheme}${login}@${rest}`;
}

/** Removes the logins and secrets of the addresses in a text. */
export function withoutSecrets(text: string): string {
  return withoutQuerySecrets(text.replace(/(:\/\/)[^\s/?#'"]*@/g, '$1'));
}

export function createInternalAddressRefusal(address: string, host: string): Refusal {
  return { msg: `Refusing to fetch internal address "${address}" for host "${host}"`, failure: 'internal_address' };
}

/** Returns whether an IP address (v4 or v6 text) belongs to this computer, this network or no host at all. RFC 6890. */
export function isInternal(address: string): boolean {
  const normalized = address.replace(/%.*$/, '').toLowerCase();
  if (normalized.includes('.') && !normalized.includes(':')) return isInternal4(normalized);
  const groups = parseIpv6Groups(normalized);
  if (groups === undefined) return true;
  const [first = 0, second = 0] = groups;
  const embedded = `${groups[6]! >> 8}.${groups[6]! & 255}.${groups[7]! >> 8}.${groups[7]! & 255}`;
  const leadingZeros = groups.slice(0, 5).every((word) => word === 0);
  // IPv4-mapped and compatible addresses, ::, ::1, NAT64 and 6to4 are judged by the embedded IPv4 address.
  if (leadingZeros && (groups[5] === 0xffff || groups[5] === 0)) return isInternal4(embedded);
  if (first === 0x64 && second === 0xff9b) return isInternal4(embedded);
  if (first === 0x2002) return isInternal4(`${second >> 8}.${second & 255}.${groups[2]! >> 8}.${groups[2]! & 255}`);
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

/** Parses the eight 16-bit groups of an IPv6 address; undefined when it is invalid. */
function parseIpv6Groups(text: string): readonly number[] | undefined {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  let plain = text;
  if (dotted !== null) {
    const [, head = '', a, b, c, d] = dotted;
    plain = `${head}${((Number(a) << 8) | Number(b)).toString(16)}:${((Number(c) << 8) | Number(d)).toString(16)}`;
  }
  const [head = '', rest, more] = plain.split('::');
  if (more !== undefined) return undefined;
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16));
  const before = parse(head);
  const after = rest === undefined ? [] : parse(rest);
  const gap = 8 - before.length - after.length;
  if (rest === undefined ? gap !== 0 : gap < 1) return undefined;
  const groups = [...before, ...Array<number>(gap).fill(0), ...after];
  return groups.every((word) => word >= 0 && word <= 0xffff) ? groups : undefined;
}
