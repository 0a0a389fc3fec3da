import * as m from '#messages/kit-texts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RichMessage } from '../../../messages/runtime.ts';
import type { AppPages } from '../../contracts/app-pages.ts';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import { escapeHtml } from '../escape-html.ts';
import { negotiateRequestLanguage, runInLanguage } from '../language.ts';
import { buildNoticePage } from './notice-page.ts';
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

async function sendNotice(
  request: IncomingMessage,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const page = await (isGatewayRequest(request) ? buildNotShared() : buildNoPublicAddress());
  const vary = [headers['Vary'], 'Accept-Language'].filter((field) => field !== undefined).join(', ');
  const fields = { ...headers, ...page.headers, Vary: vary, 'Content-Length': Buffer.byteLength(page.body) };
  response.writeHead(404, fields);
  response.end(request.method === 'HEAD' ? undefined : page.body);
}

function buildNotShared(): ReturnType<typeof buildNoticePage> {
  const steps = [m.notSharedOpenNetwork(), m.notSharedSetShared()];
  return buildNoticePage(m.notSharedTitle(), renderNotice(m.notSharedCause(), steps));
}

function buildNoPublicAddress(): ReturnType<typeof buildNoticePage> {
  const steps = [m.noAddressForward(), m.noAddressSetAddress()];
  return buildNoticePage(m.noAddressTitle(), renderNotice(m.noAddressCause(), steps));
}

/** Renders the cause, the steps for an administrator, and a link to the same address, which reloads the page. */
function renderNotice(cause: string, steps: readonly (RichMessage | string)[]): string {
  const items = steps.map((step) => `<li>${typeof step === 'string' ? escapeHtml(step) : renderStep(step)}</li>`);
  return [
    `<p>${escapeHtml(cause)}</p>`,
    `<p>${escapeHtml(m.askAdministrator())}</p>`,
    `<ol>\n${items.join('\n')}\n</ol>`,
    `<a class="button" href="">${escapeHtml(m.reloadPage())}</a>`,
  ].join('\n');
}

function renderStep(step: RichMessage): string {
  return renderRichHtml(step, { strong: toStrong });
}
