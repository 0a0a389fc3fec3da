import type { Permission } from '../../contracts/control/accounts.ts';
import { matchesWildcardParts } from '../../contracts/wildcards.ts';

export interface LocationGrant {
  readonly resource: string;
  readonly permission: Permission;
}

/**
 * Returns true if grants allow a folder with everything in it. The longest pattern decides, and a tie allows; grants of the
 * account precede those of all accounts. A denied part of the folder denies the whole folder, because the engine reads all
 * of it.
 */
export function coversFolder(
  accountGrants: readonly LocationGrant[],
  sharedGrants: readonly LocationGrant[],
  resource: string,
  need: 'read' | 'write',
): boolean {
  const getAllowingLength = (grants: readonly LocationGrant[]): number =>
    Math.max(
      -1,
      ...grants
        .filter((grant) => allows(grant, need) && matchesFolder(grant.resource, resource))
        .map((grant) => grant.resource.length),
    );
  const isDenied = (grants: readonly LocationGrant[], minLength: number): boolean =>
    grants.some(
      (grant) => !allows(grant, need) && grant.resource.length > minLength && canMatchInside(grant.resource, resource),
    );
  const accountLength = getAllowingLength(accountGrants);
  if (accountLength >= 0) return !isDenied(accountGrants, accountLength);
  const sharedLength = getAllowingLength(sharedGrants);
  return sharedLength >= 0 && !isDenied(accountGrants, -1) && !isDenied(sharedGrants, sharedLength);
}

function allows({ permission }: LocationGrant, need: 'read' | 'write'): boolean {
  return permission === 'read-write' || permission === need;
}

function matchesFolder(pattern: string, resource: string): boolean {
  return pattern.endsWith('*') && matchesWildcardParts(pattern.split('*'), resource);
}

/** Returns true if a pattern can match a path in the folder. */
function canMatchInside(pattern: string, resource: string): boolean {
  const star = pattern.indexOf('*');
  const prefix = star === -1 ? pattern : pattern.slice(0, star);
  return prefix.startsWith(resource) || (star !== -1 && resource.startsWith(prefix));
}
