/** Words in the name of a parameter that tell of a secret, whatever its length, and those that tell of one when it is long. */
const always = new Set(['token', 'secret', 'password', 'passwd', 'pass', 'pwd', 'jwt']);
const whenLong = new Set([
  ...['auth', 'authorization', 'key', 'keys', 'apikey', 'sig', 'sign', 'signature', 'hash', 'hmac', 'md5'],
  ...['session', 'sessionid', 'sid', 'ticket', 'credential', 'credentials', 'policy', 'hdnts', 'hdnea', 'hdntl'],
]);
const long = 8;
/** What stands in place of a secret: a mark and its fingerprint, which tells two of them apart. */
const masked = /^~[0-9a-f]{12}$/;

/** Whether a parameter of a query is one that should not be shown. */
function isSecret(name: string, value: string): boolean {
  if (value === '' || masked.test(value)) return false;
  if (/^eyJ[\w-]+\.[\w-]+/.test(value)) return true;
  const words = decoded(name)
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  if (words.some((word) => always.has(word) || /^(access|auth|api)token$/.test(word))) return true;
  return value.length >= long && words.some((word) => whenLong.has(word));
}

/** The secrets of an address by what stands in their place. */
export type AddressSecrets = Readonly<Record<string, string>>;

/** An address as it may be shown, and the secrets of its query; everything else stays letter by letter. */
export function splitSecrets(
  address: string,
  fingerprint: (text: string) => string,
): { readonly shown: string; readonly secrets: AddressSecrets } {
  const secrets: Record<string, string> = {};
  const [, before = address, query = '', after = ''] = /^([^?#]*)\?([^#]*)(.*)$/s.exec(address) ?? [];
  if (query === '') return { shown: address, secrets };
  const parts = query.split('&').map((part) => {
    const end = part.indexOf('=');
    const [name, value] = end < 0 ? [part, ''] : [part.slice(0, end), part.slice(end + 1)];
    if (!isSecret(name, value)) return part;
    const mark = `~${fingerprint(part).slice(0, 12)}`;
    secrets[mark] = value;
    return `${name}=${mark}`;
  });
  return { shown: `${before}?${parts.join('&')}${after}`, secrets };
}

/** The address with its secrets in it again. */
export function joinSecrets(shown: string, secrets: AddressSecrets): string {
  return shown.replace(/(=)(~[0-9a-f]{12})(?=[&#]|$)/g, (whole, equals: string, mark: string) =>
    Object.hasOwn(secrets, mark) ? `${equals}${secrets[mark] ?? ''}` : whole,
  );
}

/** Whether secrets were taken out of this address. */
export function isMasked(address: string): boolean {
  return /[?&][^=&#]*=~[0-9a-f]{12}(?=[&#]|$)/.test(address);
}

/** Text without the secrets in the queries of the addresses in it. */
export function withoutQuerySecrets(text: string): string {
  return text.replace(
    /([?&])([\w.~%[\]-]{1,64})=([^\s&#'"<>]{1,8192}?)(?=[:;,.)\]]{0,3}(?:[\s&#'"<>]|$))/g,
    (whole, mark: string, name: string, value: string) => (isSecret(name, value) ? `${mark}${name}=…` : whole),
  );
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // Not encoded as it should be, so it is what it looks like.
    return name;
  }
}
