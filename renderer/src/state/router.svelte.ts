import { addressOf } from './page-path.ts';
import { presentAddress } from './redirects.ts';
import { refined } from './url-query.ts';

/** Where the person is: the address bar as state. */
class Place {
  path = $state(location.pathname);
  /** Replaced as a whole whenever the address changes. */
  query = $state.raw<Readonly<URLSearchParams>>(new URLSearchParams(location.search));
  /** Which of the things is open, as in `/inbox/messages/7`; empty when none is. */
  readonly id = $derived(addressOf(this.path).id);

  constructor() {
    this.#read();
    addEventListener('popstate', () => this.#read());
  }

  /** Goes to an address of ours. `replace`: without a step in the history, as for filters while typing. */
  go(to: string, options: { readonly replace?: boolean } = {}): void {
    if (options.replace) history.replaceState(null, '', to);
    else history.pushState(null, '', to);
    this.#read();
    if (!options.replace) scrollTo(0, 0);
  }

  /** Sets or (with an empty value) removes fields of the query and keeps the others; `id` is what is open. */
  refine(fields: Readonly<Record<string, string>>, options: { readonly replace?: boolean } = {}): void {
    const to = refined(this.path, this.query, fields);
    if (options.replace) history.replaceState(null, '', to);
    else history.pushState(null, '', to);
    this.#read();
  }

  /** Follows a click on a plain link of ours without loading the page anew. */
  follow(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.origin !== location.origin || link.target !== '' || link.hasAttribute('download')) return;
    // A place within the page, such as the skip link's, is the browser's own business.
    if (link.hash !== '') return;
    event.preventDefault();
    this.go(link.pathname + link.search);
  }

  #read(): void {
    const present = presentAddress(location.pathname, new URLSearchParams(location.search));
    if (present !== undefined) history.replaceState(history.state, '', present + location.hash);
    this.path = location.pathname;
    this.query = new URLSearchParams(location.search);
  }
}

export const place = new Place();
