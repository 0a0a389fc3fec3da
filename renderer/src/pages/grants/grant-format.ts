import * as m from '#messages/grants';
import { capitalize, formatList } from '../../../../messages/format.ts';
import type { AccessReason } from '../../../../services/contracts/control/access.ts';
import { compareNames } from '../../../../services/contracts/compare-names.ts';
import type { Account, Grant, Permission } from '../../../../services/contracts/control/accounts.ts';
import { services } from '../../state/services.svelte.ts';
import { grantable } from './grantable-resources.svelte.ts';

/** Returns the permissions with their labels, in the order of the select field. */
export function listPermissions(): readonly (readonly [Permission, string])[] {
  return [
    ['read-write', m.readAndWrite()],
    ['read', m.read()],
    ['write', m.write()],
    ['none', m.denied()],
  ];
}

export function formatPermission(permission: Permission): string {
  return listPermissions().find(([key]) => key === permission)?.[1] ?? permission;
}

/** Formats the resource of a grant: the title of the service for `*`, otherwise the pattern. */
export function formatResource({ service, resource }: Pick<Grant, 'service' | 'resource'>): string {
  return resource === '*' ? grantable.title(service) : resource;
}

const clauses: readonly (readonly [Permission, (values: { readonly names: string }) => string])[] = [
  ['read-write', m.usesNames],
  ['read', m.readsNames],
  ['write', m.writesToNames],
  ['none', m.notNames],
];

/** Summarizes the permissions of an account by service: `Uses Downloads and Code, reads Uptime`. */
export function summarizeGrants({ role, grants }: Pick<Account, 'role' | 'grants'>): string {
  if (role === 'admin') return m.mayDoEverything();
  if (grants.length === 0) return m.onlyDefaults();
  const parts = clauses.flatMap(([permission, formatClause]) => {
    const matching = sortByPrecedence(grants.filter((grant) => grant.permission === permission));
    const names = matching.map(formatGrant);
    return names.length === 0 ? [] : [formatClause({ names: formatList(names) })];
  });
  return capitalize(parts.join('; '));
}

/** Formats a grant: `Messages`, `topics that begin with home-`, `Sync /home/ada`. */
function formatGrant({ service, resource }: Grant): string {
  if (resource === '*') return services.getTitle(service);
  const [prefix = '', ...others] = resource.split('*');
  return service === 'push' && others.length === 1 && others[0] === ''
    ? m.topicsWithPrefix({ prefix })
    : `${services.getTitle(service)} ${resource}`;
}

/** Explains the result of an access check as a sentence. */
export function formatAccessReason(reason: AccessReason): string {
  return {
    administrator: m.administratorsMayDoEverything(),
    'switched-off': m.accountSwitchedOff(),
    granted: m.aGrantAllowsIt(),
    'not-granted': m.notGranted(),
  }[reason];
}

/** Combines two checkboxes into a permission. */
export function toPermission(read: boolean, write: boolean): Permission {
  if (read) return write ? 'read-write' : 'read';
  return write ? 'write' : 'none';
}

/**
 * Sorts grants in the order of evaluation: by service, longest pattern first, and write permission first among
 * equal lengths.
 */
export function sortByPrecedence(grants: readonly Grant[]): readonly Grant[] {
  const getServiceIndex = ({ service }: Grant): number => {
    const index = grantable.list.findIndex((each) => each.service === service);
    return index < 0 ? grantable.list.length : index;
  };
  const getWriteRank = ({ permission }: Grant): number =>
    permission === 'read-write' || permission === 'write' ? 0 : 1;
  return grants.toSorted(
    (a, b) =>
      getServiceIndex(a) - getServiceIndex(b) ||
      compareNames(a.service, b.service) ||
      b.resource.length - a.resource.length ||
      getWriteRank(a) - getWriteRank(b) ||
      compareNames(a.resource, b.resource),
  );
}

/** Checks that two grants have the same service and resource. */
export function hasSameTarget(one: Grant, other: Grant): boolean {
  return one.service === other.service && one.resource === other.resource;
}
