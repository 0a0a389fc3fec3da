import { pages, type PageEntry } from '../pages/index.ts';
import { addressOf } from './page-path.ts';

/** What a path leads to: a page of the table, a list of pages, or nothing. */
export type Place =
  | { readonly view: 'page'; readonly page: PageEntry; readonly thing: string; readonly id: string }
  | { readonly view: 'more' | 'add' | 'unknown' };

/** Whoever is signed in has nothing to do at these two. */
const doors = ['sign-in', 'setup'];

/** `/settings/push` is the page `settings` with the thing `push`; `/settings/log` is a page of its own. */
export function placeAt(path: string): Place {
  const { service, thing, id } = addressOf(path);
  if (service === 'more' || service === 'add') return { view: thing === '' ? service : 'unknown' };
  const at = doors.includes(service) ? '' : service;
  const apart = pages.find((entry) => entry.at === `${at}/${thing}`);
  if (apart) return { view: 'page', page: apart, thing: '', id };
  const page = pages.find((entry) => entry.at === at);
  return page ? { view: 'page', page, thing, id } : { view: 'unknown' };
}

/** The page's address. */
export function hrefOf({ at }: PageEntry): string {
  return `/${at}`;
}
