import type { RequestListener } from 'node:http';
import type { AppPages } from '../../contracts/app-pages.ts';
import { leadToApp } from '../../kit/lead-to-app.ts';

/**
 * Leads a browser that opens the server's root or a topic to the app's page about it. Everything else, and every client
 * that does not ask for a page, gets the peer's routes.
 */
export function leadBrowsers(
  routes: RequestListener,
  given: {
    /** Where the app's own pages are. */
    readonly pages: AppPages;
    readonly isPage: (path: string) => boolean;
  },
): RequestListener {
  return (request, response) => {
    const { method, url = '/', headers } = request;
    // A query belongs to a client, such as a distributor that asks whether this is a push server.
    if (method !== 'GET' || !(headers.accept ?? '').includes('text/html') || url.includes('?') || !given.isPage(url)) {
      routes(request, response);
      return;
    }
    const path = url === '/' ? '/push' : `/push${url}`;
    const isAnswered = leadToApp(request, response, { pages: given.pages, path, headers: { Vary: 'Accept' } });
    if (!isAnswered) routes(request, response);
  };
}
