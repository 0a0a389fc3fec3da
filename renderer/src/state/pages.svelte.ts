import { pages, type PageEntry } from '../pages/index.ts';
import { services } from './services.svelte.ts';
import { session } from './session.svelte.ts';

/** The pages that this person may open, in the order of the rail. */
export function openPages(): readonly PageEntry[] {
  return pages.filter(
    ({ group, adminOnly, service }) =>
      group !== 'hidden' &&
      (!adminOnly || session.admin) &&
      // Until the services are known nothing is left out: a rail must not grow under the pointer.
      (service === undefined || services.phase !== 'ready' || services.list.some(({ id }) => id === service)),
  );
}
