import { getInboxGrant, type InboxOrigin } from '../contracts/inbox/api.ts';
import type { Rights } from '../contracts/route-access.ts';
import type { Scope } from './store/scope.ts';

/** Maximum number of places in a statement, below the parameter limit of the databases. */
const maxPlaces = 15_000;

/** Returns true when the caller may read or delete rows of a place. */
export function isAllowed(rights: Rights, permission: 'read' | 'write', place: InboxOrigin): boolean {
  if (rights.all) return true;
  const { service, resource } = getInboxGrant(place, permission);
  return rights.may(service, permission, resource);
}

/** Returns the rows that the caller may read; undefined for all rows. */
export async function getReadableScope(
  rights: Rights,
  places: () => Promise<readonly InboxOrigin[]>,
): Promise<Scope | undefined> {
  if (rights.all) return undefined;
  const allowed = (await places()).filter((place) => isAllowed(rights, 'read', place));
  const topics = new Set(allowed.flatMap(({ topic }) => (topic === '' ? [] : [topic])));
  const sources = new Set(allowed.flatMap(({ topic, source }) => (topic === '' ? [source] : [])));
  return { topics: [...topics].slice(0, maxPlaces), sources: [...sources].slice(0, maxPlaces) };
}
