import type { Identity } from '../../contracts/control/accounts.ts';
import type { Profiles } from '../profiles/profiles.ts';

export function isAdministrator(identity: Identity | undefined): boolean {
  return identity?.role === 'admin' && identity.limited !== true;
}

/** Returns true when the caller may read credentials: the owner of the configuration and administrators. */
export async function mayReadCredentials(
  profiles: Profiles,
  identity: Identity | undefined,
  uuid: string,
): Promise<boolean> {
  if (isAdministrator(identity)) return true;
  return identity !== undefined && identity.limited !== true && identity.account === (await profiles.findOwner(uuid));
}
