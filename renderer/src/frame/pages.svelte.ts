import type { ServiceState } from '../../../services/contracts/control/api.ts';
import { pages, type PageEntry } from '../pages/index.ts';
import { services } from '../state/services.svelte.ts';
import { session } from '../state/session.svelte.ts';
import { sidebar } from './sidebar.svelte.ts';

/** Returns the pages that the account may open and whose services are on, in the order of the sidebar. */
export function openPages(): readonly PageEntry[] {
  return pages.filter(
    (page) =>
      isAllowed(page) &&
      // Until the services are loaded no page is left out, so that the sidebar does not grow under the pointer.
      (page.services === undefined ||
        services.phase !== 'ready' ||
        getServices(page).some(({ state }) => state !== 'off')),
  );
}

/** Returns the pages that can be added: all their services exist and are off. */
export function offPages(): readonly PageEntry[] {
  return pages.filter((page) => {
    const pageServices = getServices(page);
    return isAllowed(page) && pageServices.length > 0 && pageServices.every(({ state }) => state === 'off');
  });
}

/** Returns the existing services of a page. */
export function getServices(page: PageEntry): readonly ServiceState[] {
  return services.list.filter(({ id }) => page.services?.includes(id));
}

const order = pages.flatMap(({ services: pageServices = [] }) => pageServices);

/** Sorts services, or data of services, in the order of the sidebar. Services without a page come last. */
export function sortInSidebarOrder<T extends { readonly id: string }>(list: readonly T[]): readonly T[] {
  const getPosition = ({ id }: T): number => (order.includes(id) ? order.indexOf(id) : order.length);
  return list.toSorted((a, b) => getPosition(a) - getPosition(b));
}

/** Returns the service page in the bottom bar of phones: the one that was pinned last, or else the first one. */
export function findBarPage(): PageEntry | undefined {
  const withService = openPages().filter(
    ({ group, services: pageServices }) => pageServices !== undefined && group !== 'foot',
  );
  const pinned = sidebar.pinned.flatMap((at) => withService.filter((page) => page.path === at));
  return pinned[0] ?? withService[0];
}

function isAllowed({ group, adminOnly }: PageEntry): boolean {
  // The role is not known yet while the session is loading.
  return group !== 'hidden' && (!adminOnly || session.isAdmin || session.phase === 'loading');
}
