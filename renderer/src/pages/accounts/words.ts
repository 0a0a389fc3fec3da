import type { AccessReason } from '../../../../services/contracts/access.ts';
import type { Account, Grant, Permission } from '../../../../services/contracts/accounts.ts';

/** What each permission lets someone do, in the order of the choice. */
export const permissions: readonly (readonly [Permission, string])[] = [
  ['read-write', 'Read and write'],
  ['read', 'Read'],
  ['write', 'Write'],
  ['none', 'Nothing'],
];

export function permissionWords(permission: Permission): string {
  return permissions.find(([key]) => key === permission)?.[1] ?? permission;
}

/** What can be granted; push comes first, since most grants are about topics. */
export const grantable: readonly (readonly [string, string])[] = [
  ['push', 'Push topics'],
  ['notify', 'Notify keys'],
  ['downloads', 'Downloads'],
  ['metrics', 'Metrics'],
];

export function grantableWords(service: string): string {
  return grantable.find(([key]) => key === service)?.[1] ?? service;
}

/** One line about what an account may do. */
export function grantLine({ role, grants }: Pick<Account, 'role' | 'grants'>): string {
  if (role === 'admin') return 'May do everything';
  if (grants.length === 0) return 'No grants of its own';
  const first = grants.slice(0, 2).map(({ resource, permission }) => `${resource}: ${permissionWords(permission)}`);
  const more = grants.length > first.length ? ` and ${String(grants.length - first.length)} more` : '';
  return first.join(', ').concat(more);
}

/** The answer to "may it?", as a sentence's end. */
export function reasonWords(reason: AccessReason): string {
  return {
    administrator: 'Administrators may do everything.',
    'switched-off': 'The account is switched off.',
    granted: 'A grant allows it.',
    'not-granted': 'No grant allows it, or a longer pattern takes it away.',
  }[reason];
}

/** Two grants about the same things of the same service. */
export function sameTarget(one: Grant, other: Grant): boolean {
  return one.service === other.service && one.resource === other.resource;
}
