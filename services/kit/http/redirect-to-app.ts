import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AppPages } from '../../contracts/app-pages.ts';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import { noticePage, noticePageHeaders } from './notice-page.ts';

interface RedirectTarget {
  readonly pages: AppPages;
  /** Path of the page with its query: `/downloads`. */
  readonly path: string;
  /** Additional headers of the redirect. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Redirects to a page of the app. A browser that cannot reach the app receives a page that explains how to share it.
 * @returns false, without a response, for a program when there is no address to redirect to
 */
export function redirectToAppPage(
  request: IncomingMessage,
  response: ServerResponse,
  { pages, path, headers = {} }: RedirectTarget,
): boolean {
  const base = pages.forRequest(request);
  if (base !== undefined) {
    response.writeHead(302, { ...headers, Location: `${base}${path}`, 'Content-Length': 0 }).end();
    return true;
  }
  if (!acceptsHtml(request)) return false;
  const body = isGatewayRequest(request) ? renderNotShared() : renderNoPublicAddress();
  response.writeHead(404, { ...headers, ...noticePageHeaders, 'Content-Length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
  return true;
}

/** Returns whether the client accepts a page, as browsers do. */
function acceptsHtml({ headers }: IncomingMessage): boolean {
  return (headers.accept ?? '').includes('text/html');
}

function renderNotShared(): string {
  return noticePage(
    'Homeport itself isn’t shared yet',
    `<p>This service works at this address for apps and other clients. Its pages belong to Homeport, which is not
shared with other devices.</p>
<p>To open them here:</p>
<ol>
<li>On the computer that runs Homeport, open <strong>Network</strong>.</li>
<li>Set <strong>Homeport</strong> to <strong>Shared</strong>.</li>
<li>Reload this page.</li>
</ol>`,
  );
}

function renderNoPublicAddress(): string {
  return noticePage(
    'Homeport’s pages have another address',
    `<p>This service works at this address for apps and other clients. Its pages belong to Homeport, whose address
behind your proxy is not known.</p>
<p>To open them here:</p>
<ol>
<li>Forward a name of your proxy to Homeport’s own port as well.</li>
<li>In <strong>Settings</strong>, set <strong>Public address</strong> to that name.</li>
<li>Reload this page.</li>
</ol>`,
  );
}
