import type { ServiceState } from '../../../services/contracts/control/api.ts';
import { pages, type PageEntry } from '../pages/index.ts';
import { services } from './services.svelte.ts';
import { session } from './session.svelte.ts';
import { sidebar } from './sidebar.svelte.ts';

/** The pages that this person may open and whose services run, in the order of the sidebar. */
export function openPages(): readonly PageEntry[] {
  return pages.filter(
    (page) =>
      allowed(page) &&
      // Until the services are known nothing is left out: a sidebar must not grow under the pointer.
      (page.services === undefined ||
        services.phase !== 'ready' ||
        servicesOf(page).some(({ state }) => state !== 'off')),
  );
}

/** What can be added: pages whose services exist and are all switched off. */
export function offPages(): readonly PageEntry[] {
  return pages.filter((page) => {
    const behind = servicesOf(page);
    return allowed(page) && behind.length > 0 && behind.every(({ state }) => state === 'off');
  });
}

/** The services behind a page, as far as they exist. */
export function servicesOf(page: PageEntry): readonly ServiceState[] {
  return services.list.filter(({ id }) => page.services?.includes(id));
}

const order = pages.flatMap(({ services: behind = [] }) => behind);

/** Services, or what is theirs, as their pages stand in the sidebar; those without a page stand last. */
export function inSidebarOrder<T extends { readonly id: string }>(list: readonly T[]): readonly T[] {
  const place = ({ id }: T): number => (order.includes(id) ? order.indexOf(id) : order.length);
  return list.toSorted((a, b) => place(a) - place(b));
}

/** The service's page that has a place in the phone's bar: what was pinned last, or else the first one. */
export function barPage(): PageEntry | undefined {
  const withService = openPages().filter(({ group, services: behind }) => behind !== undefined && group !== 'foot');
  const pinned = sidebar.pinned.flatMap((at) => withService.filter((page) => page.at === at));
  return pinned[0] ?? withService[0];
}

function allowed({ group, adminOnly }: PageEntry): boolean {
  return group !== 'hidden' && (!adminOnly || session.admin);
}
