import type { AccessReason } from '../../../../services/contracts/control/access.ts';
import type { Account, Grant, Permission } from '../../../../services/contracts/control/accounts.ts';
import { grantable } from './grantable.svelte.ts';

/** What each permission lets someone do, in the order of the choice. */
export const permissions: readonly (readonly [Permission, string])[] = [
  ['read-write', 'Read and write'],
  ['read', 'Read'],
  ['write', 'Write'],
  ['none', 'Denied'],
];

export function permissionWords(permission: Permission): string {
  return permissions.find(([key]) => key === permission)?.[1] ?? permission;
}

/** One line about what an account may do. */
export function grantLine({ role, grants }: Pick<Account, 'role' | 'grants'>): string {
  if (role === 'admin') return 'May do everything';
  if (grants.length === 0) return 'Only what everyone may do';
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

/** The permission that two marks of the matrix stand for. */
export function permissionOf(read: boolean, write: boolean): Permission {
  if (read) return write ? 'read-write' : 'read';
  return write ? 'write' : 'none';
}

/** In the order in which the host asks: by service, the longest pattern first, and of two as long the one that grants writing. */
export function byPrecedence(grants: readonly Grant[]): readonly Grant[] {
  const place = ({ service }: Grant): number => {
    const index = grantable.list.findIndex((each) => each.service === service);
    return index < 0 ? grantable.list.length : index;
  };
  const writes = ({ permission }: Grant): number => (permission === 'read-write' || permission === 'write' ? 0 : 1);
  return grants.toSorted(
    (a, b) =>
      place(a) - place(b) ||
      a.service.localeCompare(b.service) ||
      b.resource.length - a.resource.length ||
      writes(a) - writes(b) ||
      a.resource.localeCompare(b.resource),
  );
}

/** Two grants about the same things of the same service. */
export function sameTarget(one: Grant, other: Grant): boolean {
  return one.service === other.service && one.resource === other.resource;
}
