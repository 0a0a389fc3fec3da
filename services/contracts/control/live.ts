import type { Topic } from '../bus.ts';
import type { NeededGrant, Rights } from '../route-access.ts';

/**
 * Topic that pages receive, with its audience; services declare theirs in their manifests. `user`: every signed-in
 * account; `admin`: administrators; a grant: accounts that hold it; a function: returns the visible part of an event,
 * undefined to withhold it.
 * Pages receive events over `GET /api/events`, a Server-Sent Events stream: `event:` is the topic's name, `data:` its
 * payload, `id:` increases. A client that reconnects with `Last-Event-ID` receives the missed events; when they are
 * no longer stored, the first event is `reset`, and the page reloads its lists.
 */
export interface LiveTopic<T> {
  readonly topic: Topic<T>;
  readonly audience: 'user' | 'admin' | NeededGrant | ((event: T, rights: Rights) => T | undefined);
}

/** Name of the event after which a page must reload its data, since events were lost. */
export const resetEvent = 'reset';

/** Lets TypeScript check the audience against the topic. */
export function liveTopic<T>(topic: Topic<T>, audience: LiveTopic<T>['audience']): LiveTopic<T> {
  return { topic, audience };
}

/** Returns the part of an event that is visible with these rights, or undefined. */
export function toVisibleEvent<T>({ audience }: LiveTopic<T>, event: T, rights: Rights): T | undefined {
  if (typeof audience === 'function') return audience(event, rights);
  if (rights.all || audience === 'user') return event;
  if (audience === 'admin') return undefined;
  return rights.may(audience.service, audience.permission, audience.resource) ? event : undefined;
}
