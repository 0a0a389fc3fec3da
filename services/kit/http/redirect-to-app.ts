import * as m from '#messages/kit-texts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RichMessage } from '../../../messages/runtime.ts';
import type { AppPages } from '../../contracts/app-pages.ts';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import { escapeHtml } from '../escape-html.ts';
import { negotiateRequestLanguage, runInLanguage } from '../language.ts';
import { noticePage, noticePageHeaders } from './notice-page.ts';
import { renderRichHtml, toStrong } from '../rich-html.ts';

interface RedirectTarget {
  readonly pages: AppPages;
  /** Path of the page with its query: `/downloads`. */
  readonly path: string;
  /** Additional headers of the redirect. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Redirects to a page of the app. A browser that cannot reach the app receives a page in its language that explains how
 * to share it.
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
  const language = negotiateRequestLanguage(request.headers['accept-language']);
  runInLanguage(language, () => sendNotice(request, response, headers)).catch(() => response.destroy());
  return true;
}

/** Returns whether the client accepts a page, as browsers do. */
function acceptsHtml({ headers }: IncomingMessage): boolean {
  return (headers.accept ?? '').includes('text/html');
}

function sendNotice(
  request: IncomingMessage,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
): void {
  const body = isGatewayRequest(request) ? renderNotShared() : renderNoPublicAddress();
  const vary = [headers['Vary'], 'Accept-Language'].filter((field) => field !== undefined).join(', ');
  const fields = { ...headers, ...noticePageHeaders, Vary: vary, 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(404, fields);
  response.end(request.method === 'HEAD' ? undefined : body);
}

function renderNotShared(): string {
  const steps = [m.notSharedOpenNetwork(), m.notSharedSetShared(), m.reloadPage()];
  return noticePage(m.notSharedTitle(), renderNotice(m.notSharedCause(), steps));
}

function renderNoPublicAddress(): string {
  const steps = [m.noAddressForward(), m.noAddressSetAddress(), m.reloadPage()];
  return noticePage(m.noAddressTitle(), renderNotice(m.noAddressCause(), steps));
}

function renderNotice(cause: string, steps: readonly (RichMessage | string)[]): string {
  const items = steps.map((step) => `<li>${typeof step === 'string' ? escapeHtml(step) : renderStep(step)}</li>`);
  return `<p>${escapeHtml(cause)}</p>\n<p>${escapeHtml(m.stepsToOpen())}</p>\n<ol>\n${items.join('\n')}\n</ol>`;
}

function renderStep(step: RichMessage): string {
  return renderRichHtml(step, { strong: toStrong });
}
