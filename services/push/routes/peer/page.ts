import type { RequestListener } from 'node:http';

/**
 * Leads a browser that opens the server's root or a topic to the app's page about it. Everything else, and every client
 * that does not ask for a page, gets the peer's routes.
 */
export function leadBrowsers(
  routes: RequestListener,
  given: {
    /** Where the app's own pages are; undefined while they are not served. */
    readonly app: () => string | undefined;
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
    const app = given.app();
    if (app === undefined) {
      routes(request, response);
      return;
    }
    const location = url === '/' ? `${app}/push` : `${app}/push${url}`;
    response.writeHead(302, { Location: location, Vary: 'Accept', 'Content-Length': 0 }).end();
  };
}
