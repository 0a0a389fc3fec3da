import type { Grant, Permission } from '../../../services/contracts/accounts.ts';

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
    if (matches(pieces, resource)) return permission === 'read-write' || permission === access;
  }
  return undefined;
}

/**
 * Whether the text is the pieces in order with anything between them. The earliest place of each piece leaves the most
 * room for the rest, so taking it never has to be taken back.
 */
function matches(pieces: readonly string[], text: string): boolean {
  const first = pieces[0] ?? '';
  if (pieces.length === 1) return text === first;
  const last = pieces.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
