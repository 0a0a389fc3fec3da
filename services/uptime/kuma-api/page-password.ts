import * as m from '#messages/uptime-texts';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { escapeHtml } from '../../kit/escape-html.ts';
import { getHostName } from '../../kit/http/host-name.ts';
import { negotiateRequestLanguage, runInLanguage } from '../../kit/language.ts';
import type { Exchange } from '../../kit/http/listener.ts';
import { buildNoticePage } from '../../kit/http/notice-page.ts';
import { redirectReply, type Reply, type ResponseHeaders } from '../../kit/http/respond.ts';
import { getAccessHeaders, pageLockedCode, type PageAccess } from '../app-api/page-access.ts';
import { readFormField } from '../app-api/subscribe.ts';
import type { StatusPages, StoredPage } from '../store/status-pages.ts';
import { buildContentSecurityPolicy } from '../wire/status-page/document.ts';
import { renderAnswer } from '../wire/status-page/page.ts';
import { renderPasswordForm } from '../wire/status-page/password-form.ts';

interface PasswordDependencies {
  readonly pages: StatusPages;
  readonly access: PageAccess;
}

/** Opens a page with the password of its form: sets the cookie and leads to the page. */
export function handlePassword({ pages, access }: PasswordDependencies, exchange: Exchange): Promise<Reply> {
  const language = negotiateRequestLanguage(exchange.request.headers['accept-language']);
  return runInLanguage(language, async () => {
    const page = pages.find(exchange.params['slug'] ?? '');
    if (page?.config.published !== true) return buildNotFoundReply();
    const password = (await readFormField(exchange, 'password')) ?? '';
    try {
      const cookie = await access.signIn(page, password, exchange.request);
      return redirectReply(303, getPagePath(page, exchange.request), {
        'Set-Cookie': cookie,
        'Cache-Control': 'no-store',
      });
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      const message = error.code === pageLockedCode ? m.lockedWrong() : error.detail;
      const retryAfter = error.headers['Retry-After'];
      return buildPasswordReply(page, {
        status: error.status === 401 ? 403 : error.status,
        message,
        headers: retryAfter === undefined ? {} : { 'Retry-After': retryAfter },
      });
    }
  });
}

/** Returns the path at which a page was opened: `/` on its own domain. */
export function getPagePath({ config }: StoredPage, request: IncomingMessage): string {
  return config.domainNameList.includes(getHostName(request)) ? '/' : `/status/${config.slug}`;
}

/** Builds the form that asks for the password of a page. It reveals nothing about the page. */
function buildPasswordReply(
  page: StoredPage,
  { status, message, headers }: { status: number; message?: string; headers?: ResponseHeaders },
): Reply {
  return {
    status,
    headers: {
      'Content-Security-Policy': buildContentSecurityPolicy({ form: true, script: false }),
      'Content-Type': 'text/html; charset=utf-8',
      ...getAccessHeaders(page),
      ...headers,
    },
    body: renderPasswordForm({ action: `/status/${page.config.slug}/open`, error: message }),
  };
}

/** Builds the answer for unknown and unpublished pages. */
export async function buildNotFoundReply(): Promise<Reply> {
  const { headers, body } = await buildNoticePage(m.noPageTitle(), `<p>${escapeHtml(m.noPageText())}</p>`);
  return { status: 404, headers: { ...headers, Vary: 'Accept-Language' }, body };
}

/** Builds the answer to a caller who may not see a page: the form for its password, or the reason. */
export function buildRefusalReply(page: StoredPage, problem: Problem): Reply {
  if (problem.code === pageLockedCode) return buildPasswordReply(page, { status: 403 });
  const form = buildPasswordReply(page, { status: problem.status, headers: problem.headers });
  return {
    ...form,
    body: renderAnswer({ title: m.lockedTitle(), message: problem.detail, back: `/status/${page.config.slug}` }),
  };
}
