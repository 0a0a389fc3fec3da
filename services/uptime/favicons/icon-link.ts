/** Maximum number of characters of a page that are searched; icons are linked at its beginning. */
const maxSearchedLength = 100_000;

/**
 * Finds the icons that a page links, best first: small ones for the list, then large ones. Only icons of the page's own
 * origin are returned, because a page must not choose other hosts that Homeport contacts.
 */
export function findIconLinks(html: string, pageUrl: string): readonly string[] {
  const origin = new URL(pageUrl).origin;
  const links: { readonly url: string; readonly rank: number }[] = [];
  for (const [tag] of html.slice(0, maxSearchedLength).matchAll(/<link\s[^<>]*>/gi)) {
    const rel = getAttribute(tag, 'rel').toLowerCase().split(/\s+/);
    const isIcon = rel.includes('icon');
    if (!isIcon && !rel.includes('apple-touch-icon')) continue;
    const url = URL.parse(getAttribute(tag, 'href').replaceAll('&amp;', '&'), pageUrl);
    // SVG can contain scripts, so it is not stored.
    if (url === null || url.origin !== origin || /\.svg$/i.test(url.pathname)) continue;
    links.push({ url: url.href, rank: isIcon ? 0 : 1 });
  }
  return links.toSorted((a, b) => a.rank - b.rank).map(({ url }) => url);
}

function getAttribute(tag: string, name: string): string {
  const match = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(tag);
  return match?.[1] ?? match?.[2] ?? match?.[3] ?? '';
}
