import { NoticeType } from '../../contracts/notice.ts';

/** Addresses that a pattern stands for, and where their mail goes. */
export interface Mapping<T> {
  /** `name` (any domain), `name@domain`, with `*` and `?` in both parts. Case does not matter. */
  readonly address: string;
  readonly targets: readonly T[];
}

/** What an address means. */
export interface Match<T> {
  readonly targets: readonly T[];
  readonly type: NoticeType;
}

/** True when `*` (any run) and `?` (any one character) make the pattern equal to the text. Time is bounded by their product. */
function matches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p;
      p += 1;
      resume = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p += 1;
      t += 1;
    } else if (star !== -1) {
      p = star + 1;
      resume += 1;
      t = resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p += 1;
  return p === pattern.length;
}

function splitAddress(address: string): readonly [local: string, domain: string | undefined] {
  const at = address.lastIndexOf('@');
  return at === -1 ? [address, undefined] : [address.slice(0, at), address.slice(at + 1)];
}

/** True for a pattern that can be used: no white space, at most one `@`, no character classes. */
export function isPattern(text: string): boolean {
  return /^[^\s@[\]]{1,64}(@[^\s@[\]]{1,253})?$/.test(text);
}

/**
 * Finds the first mapping an envelope recipient fits. A local part that ends in `.info`, `.success`, `.warning` or
 * `.failure`, in any case, names the type of the notice; another word behind a dot belongs to the name.
 */
export function matchRecipient<T>(mappings: readonly Mapping<T>[], recipient: string): Match<T> | undefined {
  const [rawLocal, domain = ''] = splitAddress(recipient.toLowerCase());
  const local = /^".*"$/.test(rawLocal) ? rawLocal.slice(1, -1).replace(/\\(.)/g, '$1') : rawLocal;
  const dot = local.lastIndexOf('.');
  const suffix = NoticeType.safeParse(dot === -1 ? undefined : local.slice(dot + 1));
  for (const { address, targets } of mappings) {
    const [name, place] = splitAddress(address.toLowerCase());
    if (place !== undefined && !matches(place, domain)) continue;
    if (suffix.success && matches(name, local.slice(0, dot))) return { targets, type: suffix.data };
    if (matches(name, local)) return { targets, type: 'info' };
  }
  return undefined;
}
