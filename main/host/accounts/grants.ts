import type { Grant, Permission } from '../../../services/contracts/control/accounts.ts';
import { matchesWildcardParts } from '../../../services/contracts/wildcards.ts';

export type Access = 'read' | 'write';

/** A grant whose pattern is cut at its wildcards, so that a match never backtracks further than one search a piece. */
interface CompiledGrant {
  readonly pieces: readonly string[];
  readonly permission: Permission;
}

/** The grants of one account by service, the one that decides first. */
export type CompiledGrants = ReadonlyMap<string, readonly CompiledGrant[]>;

const precedence: Readonly<Record<Permission, number>> = { 'read-write': 0, write: 1, none: 2, read: 3 };

/** Longest pattern first; among equally long ones those that grant writing, then denial before reading. */
export function compileGrants(grants: readonly Grant[]): CompiledGrants {
  const sorted = grants.toSorted(
    (a, b) => b.resource.length - a.resource.length || precedence[a.permission] - precedence[b.permission],
  );
  const services = new Map<string, CompiledGrant[]>();
  for (const { service, resource, permission } of sorted) {
    const compiled = { pieces: resource.split('*'), permission };
    const known = services.get(service);
    if (known === undefined) services.set(service, [compiled]);
    else known.push(compiled);
  }
  return services;
}

/** Undefined when no grant speaks of this resource. */
export function decide(grants: CompiledGrants, service: string, access: Access, resource: string): boolean | undefined {
  for (const { pieces, permission } of grants.get(service) ?? []) {
    if (matchesWildcardParts(pieces, resource)) return permission === 'read-write' || permission === access;
  }
  return undefined;
}
