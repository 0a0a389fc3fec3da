import { NotificationType } from '../../contracts/notify/notification.ts';
import { matches } from './pattern.ts';

/** Addresses that a pattern stands for. */
interface Addressed {
  /** `name` (any domain), `name@domain`, with `*`, `?` and `[…]` in both parts. Case does not matter. */
  readonly address: string;
}

/** What an address means. */
export interface Match<T> {
  readonly mapping: T;
  readonly type: NotificationType;
  /** The address without the type behind its name. */
  readonly to: string;
}

function splitAddress(address: string): readonly [local: string, domain: string | undefined] {
  const at = address.lastIndexOf('@');
  return at === -1 ? [address, undefined] : [address.slice(0, at), address.slice(at + 1)];
}

/** True for a pattern that can be used: no white space, at most one `@`. */
export function isPattern(text: string): boolean {
  return /^[^\s@]{1,64}(@[^\s@]{1,253})?$/.test(text);
}

/**
 * Finds the first mapping an envelope recipient fits. A local part that ends in `.info`, `.success`, `.warning` or
 * `.failure`, in any case, names the type of the notice; another word behind a dot belongs to the name.
 */
export function matchRecipient<T extends Addressed>(mappings: readonly T[], recipient: string): Match<T> | undefined {
  const [rawLocal, domain = ''] = splitAddress(recipient.toLowerCase());
  const local = /^".*"$/.test(rawLocal) ? rawLocal.slice(1, -1).replace(/\\(.)/g, '$1') : rawLocal;
  const dot = local.lastIndexOf('.');
  const suffix = dot === -1 ? undefined : NotificationType.options.find((type) => type === local.slice(dot + 1));
  for (const mapping of mappings) {
    const [name, place] = splitAddress(mapping.address.toLowerCase());
    if (place !== undefined && !matches(place, domain)) continue;
    if (suffix !== undefined && matches(name, local.slice(0, dot)))
      return { mapping, type: suffix, to: `${local.slice(0, dot)}@${domain}` };
    if (matches(name, local)) return { mapping, type: 'info', to: `${local}@${domain}` };
  }
  return undefined;
}
