import { z } from 'zod';

/** Maximum length, as on the host's command line. */
const maxLinkLength = 8192;
/** Path of a page: `inbox/12`, `settings/push`. */
const View = z.string().regex(/^[a-z]{1,32}(\/[\w.-]{1,64})?$/);
const WebAddress = z
  .url({ protocol: /^https?$/ })
  .max(4096)
  .transform((text) => new URL(text).href);

/**
 * Returns the path of the page that a `homeport://` link opens, undefined for unknown links. Links never act by
 * themselves: `add` opens the page with the address filled in, and the user decides.
 * - `homeport://open?view=inbox/12` -> `/inbox/12`; without a view the start page - `homeport://add?url=https://…` ->
 * `/downloads?add=https%3A%2F%2F…`
 */
export function findLinkedPage(link: string): string | undefined {
  const url = link.length > maxLinkLength ? null : URL.parse(link);
  if (url?.protocol !== 'homeport:') return undefined;
  const query = url.searchParams;
  switch (url.hostname) {
    case 'open': {
      if (!query.has('view')) return '/';
      const view = View.safeParse(query.get('view'));
      return view.success ? `/${view.data}` : undefined;
    }
    case 'add': {
      const address = WebAddress.safeParse(query.get('url'));
      return address.success ? `/downloads?${new URLSearchParams({ add: address.data }).toString()}` : undefined;
    }
    default:
      return undefined;
  }
}

/**
 * Returns the link among the arguments of a program: Windows and Linux pass it to the first start or to a second one.
 */
export function findLink(argv: readonly string[]): string | undefined {
  return argv.find((argument) => /^homeport:\/\//i.test(argument));
}
