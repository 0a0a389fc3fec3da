import { parsePath } from './page-path.ts';
import { findRedirect } from './redirects.ts';
import { withQueryFields } from './url-query.ts';

/** The address bar as state. */
class Router {
  path = $state(location.pathname);
  /** Replaced with a new object whenever the address changes. */
  query = $state.raw<Readonly<URLSearchParams>>(new URLSearchParams(location.search));
  /** The open item, as in `/inbox/messages/7`; empty when none is open. */
  readonly id = $derived(parsePath(this.path).id);

  constructor() {
    this.#read();
    addEventListener('popstate', () => this.#read());
  }

  /** Navigates to a path of the app. `replace` adds no history entry, as for filters that change while typing. */
  navigate(target: string, options: { readonly replace?: boolean } = {}): void {
    if (options.replace) history.replaceState(null, '', target);
    else history.pushState(null, '', target);
    this.#read();
    if (!options.replace) scrollTo(0, 0);
  }

  /** Sets fields of the query, or removes them with an empty value, and keeps the others; `id` is the open item. */
  setQuery(fields: Readonly<Record<string, string>>, options: { readonly replace?: boolean } = {}): void {
    const target = withQueryFields(this.path, this.query, fields);
    if (options.replace) history.replaceState(null, '', target);
    else history.pushState(null, '', target);
    this.#read();
  }

  /** Handles a click on a link of the app without loading the document again. */
  followLink(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.origin !== location.origin || link.target !== '' || link.hasAttribute('download')) return;
    // Links with a fragment, such as the skip link, are left to the browser.
    if (link.hash !== '') return;
    event.preventDefault();
    this.navigate(link.pathname + link.search);
  }

  #read(): void {
    const redirectTarget = findRedirect(location.pathname, new URLSearchParams(location.search));
    if (redirectTarget !== undefined) history.replaceState(history.state, '', redirectTarget + location.hash);
    this.path = location.pathname;
    this.query = new URLSearchParams(location.search);
  }
}

export const router = new Router();
