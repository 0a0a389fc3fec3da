import { pages, type PageEntry } from '../pages/index.ts';

/** What a path leads to: a page of the table, the phone's list of pages, or nothing. */
export type Place =
  | { readonly view: 'page'; readonly page: PageEntry; readonly section: string }
  | { readonly view: 'more' }
  | { readonly view: 'unknown' };

/** Whoever is signed in has nothing to do at these two. */
const doors = ['sign-in', 'setup'];

/** `/settings/push` is the page `settings` with the section `push`. */
export function placeAt(path: string): Place {
  const [name = '', section = ''] = path.replace(/^\/|\/$/g, '').split('/');
  if (name === 'more') return { view: 'more' };
  const at = doors.includes(name) ? '' : name;
  const page = pages.find((entry) => entry.at === at);
  return page ? { view: 'page', page, section } : { view: 'unknown' };
}

/** The page's address. */
export function hrefOf({ at }: PageEntry): string {
  return `/${at}`;
}
