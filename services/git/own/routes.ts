import type { ApiHandler } from '../../contracts/api.ts';
import type { ContentParts } from '../rest/contents.ts';

/** The service's part of our own API. */
export function ownRoutes(_parts: ContentParts): readonly ApiHandler[] {
  return [];
}
