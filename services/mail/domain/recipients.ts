import { NotificationType } from '../../contracts/notify/notification.ts';
import { matches } from './pattern.ts';

/** Entry with an address pattern. */
interface AddressPattern {
  /** `name` (any domain) or `name@domain`, with `*`, `?` and `[…]` in both parts, ignoring case. */
  readonly address: string;
}

/** Result of matching an address. */
export interface Match<T> {
  readonly mapping: T;
  readonly type: NotificationType;
  /** Address without the type suffix. */
  readonly to: string;
}

function splitAddress(address: string): readonly [local: string, domain: string | undefined] {
  const atIndex = address.lastIndexOf('@');
  return atIndex === -1 ? [address, undefined] : [address.slice(0, atIndex), address.slice(atIndex + 1)];
}

/** Returns true for a valid pattern: no white space, at most one `@`. */
export function isPattern(text: string): boolean {
  return /^[^\s@]{1,64}(@[^\s@]{1,253})?$/.test(text);
}

/**
 * Finds the first mapping that matches an envelope recipient. A local part that ends in `.info`, `.success`, `.warning`
 * or `.failure`, ignoring case, sets the type of the notification; other suffixes are part of the name.
 */
export function matchRecipient<T extends AddressPattern>(
  mappings: readonly T[],
  recipient: string,
): Match<T> | undefined {
  const [rawLocal, domain = ''] = splitAddress(recipient.toLowerCase());
  const local = /^".*"$/.test(rawLocal) ? rawLocal.slice(1, -1).replace(/\\(.)/g, '$1') : rawLocal;
  const dot = local.lastIndexOf('.');
  const suffix = dot === -1 ? undefined : NotificationType.options.find((type) => type === local.slice(dot + 1));
  for (const mapping of mappings) {
    const [name, domainPattern] = splitAddress(mapping.address.toLowerCase());
    if (domainPattern !== undefined && !matches(domainPattern, domain)) continue;
    if (suffix !== undefined && matches(name, local.slice(0, dot)))
      return { mapping, type: suffix, to: `${local.slice(0, dot)}@${domain}` };
    if (matches(name, local)) return { mapping, type: 'info', to: `${local}@${domain}` };
  }
  return undefined;
}
