import type { Permission } from '../../contracts/control/accounts.ts';
import { matchesWildcardParts } from '../../contracts/wildcards.ts';

/** A grant on this service. */
export interface PlaceGrant {
  readonly resource: string;
  readonly permission: Permission;
}

/**
 * Whether grants allow a folder with everything in it. The longest pattern decides, a tie goes to the one that allows; the
 * account's own are asked before everybody's. A part of the folder that may be refused refuses the whole, since the engine
 * walks through all of it.
 */
export function coversWhole(
  own: readonly PlaceGrant[],
  everybodys: readonly PlaceGrant[],
  resource: string,
  need: 'read' | 'write',
): boolean {
  const allowing = (grants: readonly PlaceGrant[]): number =>
    Math.max(
      -1,
      ...grants
        .filter((grant) => allows(grant, need) && coversAll(grant.resource, resource))
        .map((grant) => grant.resource.length),
    );
  const refuses = (grants: readonly PlaceGrant[], longerThan: number): boolean =>
    grants.some(
      (grant) => !allows(grant, need) && grant.resource.length > longerThan && mayMeet(grant.resource, resource),
    );
  const byOwn = allowing(own);
  if (byOwn >= 0) return !refuses(own, byOwn);
  const byEverybodys = allowing(everybodys);
  return byEverybodys >= 0 && !refuses(own, -1) && !refuses(everybodys, byEverybodys);
}

function allows({ permission }: PlaceGrant, need: 'read' | 'write'): boolean {
  return permission === 'read-write' || permission === need;
}

function coversAll(pattern: string, resource: string): boolean {
  return pattern.endsWith('*') && matchesWildcardParts(pattern.split('*'), resource);
}

/** Whether a pattern may match anything in the folder. */
function mayMeet(pattern: string, resource: string): boolean {
  const star = pattern.indexOf('*');
  const fixed = star === -1 ? pattern : pattern.slice(0, star);
  return fixed.startsWith(resource) || (star !== -1 && resource.startsWith(fixed));
}
