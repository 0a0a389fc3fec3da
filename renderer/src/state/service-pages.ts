import { createContext } from 'svelte';
import type { IconName } from '../icons/icons.ts';

/**
 * Path and icon of the page of a service; undefined where there is none or the account may not open it. Set by the
 * app, which imports the list of pages.
 */
interface ServicePage {
  readonly href: string;
  readonly icon: IconName;
}
export const [getServicePages, setServicePages] = createContext<(service: string) => ServicePage | undefined>();

/** Icon of the open page, set by the frame. */
export const [getPageIcon, setPageIcon] = createContext<() => IconName>();

/**
 * Sorts services, or data of services, in the order of the sidebar. Set by the app, which imports the list of pages.
 */
type SortServices = <T extends { readonly id: string }>(list: readonly T[]) => readonly T[];
export const [getSidebarSorting, setSidebarSorting] = createContext<SortServices>();
