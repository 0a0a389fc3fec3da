import type { AccessReason } from '../../../../services/contracts/control/access.ts';
import type { Account, Grant, Permission } from '../../../../services/contracts/control/accounts.ts';
import { services } from '../../state/services.svelte.ts';
import { grantable } from './grantable.svelte.ts';

const list = new Intl.ListFormat('en');

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

/** What a grant is about, as it is called on its service's page; a pattern by itself where it does not stand for all. */
export function thingOf({ service, resource }: Pick<Grant, 'service' | 'resource'>): string {
  return resource === '*' ? grantable.title(service) : resource;
}

const verbs: readonly (readonly [Permission, string])[] = [
  ['read-write', 'uses'],
  ['read', 'reads'],
  ['write', 'writes to'],
  ['none', 'not'],
];

/** One line about what an account may do, by the names of the services: `Uses Downloads and Code, reads Uptime`. */
export function grantLine({ role, grants }: Pick<Account, 'role' | 'grants'>): string {
  if (role === 'admin') return 'May do everything';
  if (grants.length === 0) return 'Only what everyone may do';
  const parts = verbs.flatMap(([permission, verb]) => {
    const of = byPrecedence(grants.filter((grant) => grant.permission === permission));
    const names = of.map(grantedWords);
    return names.length === 0 ? [] : [`${verb} ${list.format(names)}`];
  });
  const line = parts.join('; ');
  return line.slice(0, 1).toUpperCase() + line.slice(1);
}

/** `Messages`, `topics that begin with home-`, `Sync /home/ada` */
function grantedWords({ service, resource }: Grant): string {
  if (resource === '*') return services.getTitle(service);
  const [begin, ...others] = resource.split('*');
  return service === 'push' && others.length === 1 && others[0] === ''
    ? `topics that begin with ${String(begin)}`
    : `${services.getTitle(service)} ${resource}`;
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
