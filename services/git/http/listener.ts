import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { findAppPage } from '../../contracts/git/web-addresses.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { redirectToAppPage } from '../../kit/http/redirect-to-app.ts';
import { negotiateRequestLanguage, runInLanguage } from '../../kit/language.ts';
import type { Answer } from '../gitea-api/call.ts';
import { apiPrefix, sendAnswer, type ApiRouter } from '../gitea-api/router.ts';
import { isGitPath, smartHttp, type SmartHttpDependencies } from './smart-http.ts';
import { respondToError } from '../../kit/http/errors.ts';
import { jsonReply, sendReply, textReply, type Reply } from '../../kit/http/respond.ts';
import { readProductFont } from '../../kit/http/product-font.ts';
import { fontPath } from '../visitors/html.ts';
import { avatar } from './avatar.ts';
import { isLfsPath, lfs, type LfsDependencies } from './lfs.ts';

export interface ListenerDependencies {
  readonly context: Pick<Context, 'appPages' | 'caller' | 'clock' | 'log' | 'publicUrl' | 'random'>;
  /** Returns the live setting of the public URL. */
  readonly publicUrl: () => string;
  readonly smart: SmartHttpDependencies;
  readonly lfs: LfsDependencies;
  /** Gitea's API with its OpenAPI document. */
  readonly api: { readonly router: ApiRouter; readonly swagger: object };
  /** Answers files and archives at the URLs of Gitea; undefined for other paths. */
  readonly web: (request: IncomingMessage, url: URL, base: string) => Promise<Answer | undefined>;
  /** Returns a page for visitors without an account; undefined for private content. */
  readonly visitorPage: (
    url: URL,
    links: { readonly base: string; readonly app: string | undefined },
  ) => Promise<Answer | undefined>;
  /** Records the duration of a finished request, s. */
  readonly recordDuration: (seconds: number, kind: 'git' | 'api' | 'web') => void;
}

interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly base: string;
  readonly kind: 'git' | 'api' | 'web';
}

/** Creates the request listener of the HTTP port. */
export function gitListener(deps: ListenerDependencies): RequestListener {
  return (request, response) => {
    const start = performance.now();
    const base = getBaseUrl(request, deps);
    const url = URL.parse(request.url ?? '/', base);
    const kind = getKind(url);
    response.once('close', () => deps.recordDuration((performance.now() - start) / 1000, kind));
    if (url === null) return void refuse(deps, request, response, new Problem('git.bad_request', 400, 'Bad Request'));
    answer(deps, { request, response, url, base, kind }).catch((error: unknown) =>
      refuse(deps, request, response, error),
    );
  };
}

async function answer(
  deps: ListenerDependencies,
  { request, response, url, base, kind }: RequestContext,
): Promise<void> {
  if (isLfsPath(url.pathname)) return lfs(deps.lfs, request, response, { url, base });
  if (kind === 'git') return smartHttp(deps.smart, request, response, url);
  if (kind === 'api') return deps.api.router.answer(request, response, url, base);
  if (url.pathname === '/api/healthz') {
    const check = [{ status: 'pass', time: new Date(deps.context.clock.now()).toISOString() }];
    return sendJson(response, {
      status: 'pass',
      description: 'Homeport',
      checks: { 'cache:ping': check, 'database:ping': check },
    });
  }
  if (url.pathname === '/swagger.v1.json') return sendJson(response, deps.api.swagger);
  if (url.pathname === fontPath) return sendReply(response, await buildFontReply());
  if (url.pathname.startsWith('/avatars/')) return sendReply(response, avatar(url.pathname));
  const result = (await deps.web(request, url, base)) ?? (await pageAnswer(deps, { request, response, url, base }));
  if (result === 'sent') return;
  if (result === undefined) throw new Problem('git.unknown', 404, 'Not found.');
  await sendAnswer(response, result);
}

/** Answers with the font of the pages for visitors. */
async function buildFontReply(): Promise<Reply> {
  const headers = { 'Content-Type': 'font/woff2', 'Cache-Control': 'public, max-age=31536000, immutable' };
  return { status: 200, headers, body: await readProductFont() };
}

/**
 * Answers a web address of Gitea: with a redirect to the app for browsers that used it before, for callers with an account and
 * for content that is not public, else with a page for visitors. Undefined when there is neither.
 */
async function pageAnswer(
  { context, visitorPage }: ListenerDependencies,
  { request, response, url, base }: Pick<RequestContext, 'request' | 'response' | 'url' | 'base'>,
): Promise<Answer | 'sent' | undefined> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  const path = findAppPage(url.pathname, url.searchParams);
  if (path === undefined) return undefined;
  const isBrowser = /text\/html/.test(request.headers.accept ?? '');
  const toApp = () =>
    redirectToAppPage(request, response, { pages: context.appPages, path }) ? ('sent' as const) : undefined;
  const hasAccount =
    request.headers.authorization !== undefined || context.caller(request).gatewayIdentity !== undefined;
  const knowsApp = /(?:^|;\s*)homeport-app=1(?:;|$)/.test(request.headers.cookie ?? '');
  if (isBrowser && (hasAccount || knowsApp)) return toApp();
  const pages = context.appPages.forRequest(request);
  const language = negotiateRequestLanguage(request.headers['accept-language']);
  const links = { base, app: pages === undefined ? undefined : pages + path };
  const page = await runInLanguage(language, () => visitorPage(url, links));
  // The app requires a sign-in first, so the response does not reveal whether the content exists.
  return page ?? (isBrowser ? toApp() : undefined);
}

function getKind(url: URL | null): 'git' | 'api' | 'web' {
  if (url === null) return 'web';
  if (url.pathname.startsWith(`${apiPrefix}/`)) return 'api';
  return isGitPath(url.pathname) || isLfsPath(url.pathname) ? 'git' : 'web';
}

/** Returns the base of absolute URLs. The host header was checked before. */
function getBaseUrl(request: IncomingMessage, { context, publicUrl }: ListenerDependencies): string {
  const setting = publicUrl();
  return setting === '' ? (context.publicUrl(request) ?? 'http://127.0.0.1') : setting.replace(/\/+$/, '');
}

function sendJson(response: ServerResponse, body: unknown): void {
  sendReply(response, jsonReply(200, body, { 'Content-Type': 'application/json' }));
}

/** Sends an error as plain text, which git prints. */
function refuse(
  { context }: ListenerDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  respondToError(request, response, error, { ...context, code: 'git.failed', render: renderProblem });
}

function renderProblem({ status, detail, headers }: Problem): Reply {
  return textReply(status, `${detail}\n`, {
    'Cache-Control': 'max-age=0, private, must-revalidate',
    // Makes clients request the credentials again.
    ...(status === 401 ? { 'WWW-Authenticate': 'Basic realm="Gitea"' } : {}),
    ...headers,
  });
}
