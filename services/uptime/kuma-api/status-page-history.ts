import type { Exchange, Route } from '../../kit/http/listener.ts';
import type { Reply } from '../../kit/http/respond.ts';
import { negotiateRequestLanguage, runInLanguage } from '../../kit/language.ts';
import { Problem } from '../../contracts/problem.ts';
import { getAccessHeaders, type PageAccess } from '../app-api/page-access.ts';
import type { StatusPages } from '../store/status-pages.ts';
import { buildContentSecurityPolicy } from '../wire/status-page/document.ts';
import { renderHistory } from '../wire/status-page/history.ts';
import { buildNotFoundReply, buildRefusalReply } from './page-password.ts';

const notesPerPage = 20;

interface HistoryDependencies {
  readonly pages: StatusPages;
  readonly access: PageAccess;
}

/** Returns the route of the page that lists all notes of a status page, newest first. */
export function historyRoute({ pages, access }: HistoryDependencies): Route {
  return {
    method: 'GET',
    path: '/status/:slug/history',
    handle: (exchange) =>
      runInLanguage(negotiateRequestLanguage(exchange.request.headers['accept-language']), () =>
        buildHistory({ pages, access }, exchange),
      ),
  };
}

async function buildHistory({ pages, access }: HistoryDependencies, exchange: Exchange): Promise<Reply> {
  const { params, query, request } = exchange;
  const page = pages.find(params['slug'] ?? '');
  if (page?.config.published !== true) return buildNotFoundReply();
  try {
    await access.authorize(page, request);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return buildRefusalReply(page, error);
  }
  const before = Number(query.get('before') ?? '');
  const cursor = Number.isSafeInteger(before) && before > 0 ? { beforeId: before } : {};
  const list = await pages.notes(page, { ...cursor, limit: notesPerPage + 1 });
  const notes = list.slice(0, notesPerPage);
  const next = list.length > notesPerPage ? (notes.at(-1)?.id ?? null) : null;
  const headers = {
    'Content-Security-Policy': buildContentSecurityPolicy({ form: false, script: false }),
    'Cache-Control': 'no-cache',
    'Content-Type': 'text/html; charset=utf-8',
    Vary: 'Accept-Language',
    ...getAccessHeaders(page),
  };
  return { status: 200, headers, body: renderHistory({ page, notes, next }) };
}
