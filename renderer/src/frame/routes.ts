import { pages, type PageEntry } from '../pages/index.ts';
import { parsePath } from '../state/page-path.ts';

/** Target of a path: a page, a list of pages, or nothing. */
export type Route =
  | { readonly view: 'page'; readonly page: PageEntry; readonly section: string; readonly id: string }
  | { readonly view: 'more' | 'add' | 'unknown' };

/** Paths that lead to Home for a signed-in account. */
const signInPaths = ['sign-in', 'setup'];

/**
 * Finds the target of a path. `/settings/push` is the page `settings` with the section `push`; `/settings/log` is
 * a separate page.
 */
export function matchRoute(path: string): Route {
  const { service, section, id } = parsePath(path);
  if (service === 'more' || service === 'add') return { view: section === '' ? service : 'unknown' };
  const pagePath = signInPaths.includes(service) ? '' : service;
  const subPage = pages.find((entry) => entry.path === `${pagePath}/${section}`);
  if (subPage) return { view: 'page', page: subPage, section: '', id };
  const page = pages.find((entry) => entry.path === pagePath);
  return page ? { view: 'page', page, section, id } : { view: 'unknown' };
}

/** Returns the path of a page. */
export function getPageHref({ path: pagePath }: PageEntry): string {
  return `/${pagePath}`;
}
