import type { RequestListener } from 'node:http';
import type { AppPages } from '../../contracts/app-pages.ts';
import { redirectToAppPage } from '../../kit/http/redirect-to-app.ts';

/**
 * Redirects browsers that open the root or a topic to Homeport's page about it. All other requests reach the ntfy
 * routes.
 */
export function redirectBrowsers(
  routes: RequestListener,
  options: {
    /** Location of Homeport's pages. */
    readonly pages: AppPages;
    readonly isPage: (path: string) => boolean;
  },
): RequestListener {
  return (request, response) => {
    const { method, url = '/', headers } = request;
    // Requests with a query come from programs, such as a UnifiedPush distributor that detects the server.
    if (
      method !== 'GET' ||
      !(headers.accept ?? '').includes('text/html') ||
      url.includes('?') ||
      !options.isPage(url)
    ) {
      routes(request, response);
      return;
    }
    const path = url === '/' ? '/push' : `/push${url}`;
    const isAnswered = redirectToAppPage(request, response, {
      pages: options.pages,
      path,
      headers: { Vary: 'Accept' },
    });
    if (!isAnswered) routes(request, response);
  };
}
