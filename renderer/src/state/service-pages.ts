import { createContext } from 'svelte';
import type { IconName } from '../parts/text/icons.ts';

/** Where the page of a service is, and its picture; undefined where it has none, or this person may not open it. Set by the frame, which knows the pages. */
interface ServicePage {
  readonly href: string;
  readonly icon: IconName;
}
export const [servicePages, setServicePages] = createContext<(service: string) => ServicePage | undefined>();

/** The picture of the page that is open. Set by the frame. */
export const [pageIcon, setPageIcon] = createContext<() => IconName>();

/** Services, or what is theirs, in the order of the sidebar. Set by the app, for the same reason. */
type SortServices = <T extends { readonly id: string }>(list: readonly T[]) => readonly T[];
export const [sidebarSorting, setSidebarSorting] = createContext<SortServices>();
