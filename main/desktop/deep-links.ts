import { z } from 'zod';

/** As the host's command line takes it; what is longer is no link of ours. */
const longestLink = 8192;
/** A page's path as the pages have them: `inbox/12`, `settings/push`. */
const View = z.string().regex(/^[a-z]{1,32}(\/[\w.-]{1,64})?$/);
const WebAddress = z
  .url({ protocol: /^https?$/ })
  .max(4096)
  .transform((text) => new URL(text).href);

/**
 * Path of the page that a `homeport://` link asks for, undefined for a link that says nothing we know. No link does
 * anything by itself: `add` opens the page with the address filled in, and the person decides.
 *
 * - `homeport://open?view=inbox/12` -> `/inbox/12`; without a view the start page
 * - `homeport://add?url=https://…` -> `/downloads?add=https%3A%2F%2F…`
 */
export function pageOfLink(link: string): string | undefined {
  const url = link.length > longestLink ? null : URL.parse(link);
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

/** The link among a program's arguments: Windows and Linux hand it over there, to the first start or to a second one. */
export function linkAmong(argv: readonly string[]): string | undefined {
  return argv.find((argument) => /^homeport:\/\//i.test(argument));
}
