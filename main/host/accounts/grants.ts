import type { Grant, Permission } from '../../../services/contracts/control/accounts.ts';
import { matchesWildcardParts } from '../../../services/contracts/wildcards.ts';

export type Access = 'read' | 'write';

/** Grant with its pattern split at the wildcards, for matching without backtracking. */
interface CompiledGrant {
  readonly pieces: readonly string[];
  readonly permission: Permission;
}

/** Grants of one account by service, in order of precedence. */
export type CompiledGrants = ReadonlyMap<string, readonly CompiledGrant[]>;

const precedence: Readonly<Record<Permission, number>> = { 'read-write': 0, write: 1, none: 2, read: 3 };

/** Longest pattern first; equal lengths: grants that allow writing, then denial before reading. */
export function compileGrants(grants: readonly Grant[]): CompiledGrants {
  const sorted = grants.toSorted(
    (a, b) => b.resource.length - a.resource.length || precedence[a.permission] - precedence[b.permission],
  );
  const services = new Map<string, CompiledGrant[]>();
  for (const { service, resource, permission } of sorted) {
    const compiled = { pieces: resource.split('*'), permission };
    const serviceGrants = services.get(service);
    if (serviceGrants === undefined) services.set(service, [compiled]);
    else serviceGrants.push(compiled);
  }
  return services;
}

/** Returns undefined when no grant matches the resource. */
export function decide(grants: CompiledGrants, service: string, access: Access, resource: string): boolean | undefined {
  for (const { pieces, permission } of grants.get(service) ?? []) {
    if (matchesWildcardParts(pieces, resource)) return permission === 'read-write' || permission === access;
  }
  return undefined;
}
