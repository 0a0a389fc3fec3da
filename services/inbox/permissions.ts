import { inboxGrant, type InboxPlace } from '../contracts/inbox/api.ts';
import type { Rights } from '../contracts/route-access.ts';
import type { Scope } from './store/scope.ts';

/** Places that a statement names at most; the databases take some more parameters. */
const mostPlaces = 15_000;

/** Whether somebody may read or remove what came from a place. */
export function mayTouch(rights: Rights, permission: 'read' | 'write', place: InboxPlace): boolean {
  if (rights.all) return true;
  const { service, resource } = inboxGrant(place, permission);
  return rights.may(service, permission, resource);
}

/** The rows that somebody may read; undefined: all there are. */
export async function readable(
  rights: Rights,
  places: () => Promise<readonly InboxPlace[]>,
): Promise<Scope | undefined> {
  if (rights.all) return undefined;
  const allowed = (await places()).filter((place) => mayTouch(rights, 'read', place));
  const topics = new Set(allowed.flatMap(({ topic }) => (topic === '' ? [] : [topic])));
  const sources = new Set(allowed.flatMap(({ topic, source }) => (topic === '' ? [source] : [])));
  return { topics: [...topics].slice(0, mostPlaces), sources: [...sources].slice(0, mostPlaces) };
}
