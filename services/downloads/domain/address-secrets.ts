import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

/** Words in parameter names that indicate a secret of any length, and those that indicate one only for long values. */
const secretWords = new Set(['token', 'secret', 'password', 'passwd', 'pass', 'pwd', 'jwt']);
const longValueWords = new Set([
  ...['auth', 'authorization', 'key', 'keys', 'apikey', 'sig', 'sign', 'signature', 'hash', 'hmac', 'md5'],
  ...['session', 'sessionid', 'sid', 'ticket', 'credential', 'credentials', 'policy', 'hdnts', 'hdnea', 'hdntl'],
]);
const minLongValue = 8;
/** Placeholder of a secret: a mark and a fingerprint, which distinguishes secrets. */
const placeholder = /^~[0-9a-f]{12}$/;

/** Returns whether a query parameter must not be shown. */
function isSecret(name: string, value: string): boolean {
  if (value === '' || placeholder.test(value)) return false;
  if (/^eyJ[\w-]+\.[\w-]+/.test(value)) return true;
  const nameWords = (decodePercentEncoding(name) ?? name)
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  if (nameWords.some((word) => secretWords.has(word) || /^(access|auth|api)token$/.test(word))) return true;
  return value.length >= minLongValue && nameWords.some((word) => longValueWords.has(word));
}

/** The secrets of an address by placeholder. */
export type AddressSecrets = Readonly<Record<string, string>>;

/** Separates an address into a displayable form and the secrets of its query; all other characters remain unchanged. */
export function splitQuerySecrets(
  address: string,
  fingerprint: (text: string) => string,
): { readonly displayUrl: string; readonly secrets: AddressSecrets } {
  const secrets: Record<string, string> = {};
  const [, before = address, query = '', after = ''] = /^([^?#]*)\?([^#]*)(.*)$/s.exec(address) ?? [];
  if (query === '') return { displayUrl: address, secrets };
  const parts = query.split('&').map((part) => {
    const end = part.indexOf('=');
    const [name, value] = end < 0 ? [part, ''] : [part.slice(0, end), part.slice(end + 1)];
    if (!isSecret(name, value)) return part;
    const placeholderText = `~${fingerprint(part).slice(0, 12)}`;
    secrets[placeholderText] = value;
    return `${name}=${placeholderText}`;
  });
  return { displayUrl: `${before}?${parts.join('&')}${after}`, secrets };
}

/** Restores the secrets in a displayable address. */
export function joinQuerySecrets(displayUrl: string, secrets: AddressSecrets): string {
  return displayUrl.replace(/(=)(~[0-9a-f]{12})(?=[&#]|$)/g, (match, equals: string, mark: string) =>
    Object.hasOwn(secrets, mark) ? `${equals}${secrets[mark] ?? ''}` : match,
  );
}

/** Returns whether an address contains placeholders for secrets. */
export function isMasked(address: string): boolean {
  return /[?&][^=&#]*=~[0-9a-f]{12}(?=[&#]|$)/.test(address);
}

/** Removes the query secrets of the addresses in a text. */
export function withoutQuerySecrets(text: string): string {
  return text.replace(
    /([?&])([\w.~%[\]-]{1,64})=([^\s&#'"<>]{1,8192}?)(?=[:;,.)\]]{0,3}(?:[\s&#'"<>]|$))/g,
    (match, mark: string, name: string, value: string) => (isSecret(name, value) ? `${mark}${name}=…` : match),
  );
}
