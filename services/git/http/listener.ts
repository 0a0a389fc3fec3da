import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { findAppPage } from '../../contracts/git/web-addresses.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { redirectToAppPage } from '../../kit/redirect-to-app.ts';
import type { Answer } from '../gitea-api/call.ts';
import { apiPrefix, type Router } from '../gitea-api/router.ts';
import { isGitPath, smartHttp, type SmartHttpParts } from './smart-http.ts';
import { isDisconnectError } from '../../kit/disconnect-signal.ts';
import { avatar } from './avatar.ts';
import { isLfsPath, lfs, type LfsParts } from './lfs.ts';

export interface ListenerParts {
  readonly context: Pick<Context, 'appPages' | 'caller' | 'clock' | 'log' | 'publicUrl'>;
  /** The live setting of the public address. */
  readonly publicUrl: () => string;
  readonly smart: SmartHttpParts;
  readonly lfs: LfsParts;
  readonly api: Router;
  /** The API's description. */
  readonly swagger: object;
  /** Files and archives at the addresses that links of the peer have; undefined for another path. */
  readonly web: (request: IncomingMessage, url: URL, base: string) => Promise<Answer | undefined>;
  /** A page for visitors without an account; undefined for what they do not see. */
  readonly visitorPage: (
    url: URL,
    links: { readonly base: string; readonly app: string | undefined },
  ) => Promise<Answer | undefined>;
  /** Told of each request that is over, s. */
  readonly took: (seconds: number, kind: 'git' | 'api' | 'web') => void;
}

interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly base: string;
  readonly kind: 'git' | 'api' | 'web';
}

/** Everything that answers on the port for HTTP. */
export function gitListener(parts: ListenerParts): RequestListener {
  return (request, response) => {
    const start = performance.now();
    const base = baseOf(request, parts);
    const url = URL.parse(request.url ?? '/', base);
    const kind = kindOf(url);
    response.once('close', () => parts.took((performance.now() - start) / 1000, kind));
    if (url === null) return void refuse(parts, request, response, new Problem('git.bad_request', 400, 'Bad Request'));
    answer(parts, { request, response, url, base, kind }).catch((error: unknown) =>
      refuse(parts, request, response, error),
    );
  };
}

async function answer(parts: ListenerParts, { request, response, url, base, kind }: Received): Promise<void> {
  if (isLfsPath(url.pathname)) return lfs(parts.lfs, request, response, { url, base });
  if (kind === 'git') return smartHttp(parts.smart, request, response, url);
  if (kind === 'api') return parts.api.answer(request, response, url, base);
  if (url.pathname === '/api/healthz') {
    const check = [{ status: 'pass', time: new Date(parts.context.clock.now()).toISOString() }];
    return json(response, {
      status: 'pass',
      description: 'Homeport',
      checks: { 'cache:ping': check, 'database:ping': check },
    });
  }
  if (url.pathname === '/swagger.v1.json') return json(response, parts.swagger);
  if (url.pathname.startsWith('/avatars/')) return avatar(response, url.pathname);
  const found = (await parts.web(request, url, base)) ?? (await pageAnswer(parts, { request, response, url, base }));
  if (found === 'sent') return;
  if (found === undefined) throw new Problem('git.unknown', 404, 'Not found.');
  response.writeHead(found.status, found.headers as Record<string, string | number>);
  if (found.send !== undefined && request.method !== 'HEAD') await found.send(response);
  else response.end(request.method === 'HEAD' ? undefined : found.text);
}

/**
 * The page that an address of Gitea leads to: the app's page for browsers that know the app, for callers with an account and
 * for what is not public; else a page for visitors. Undefined where there is neither.
 */
async function pageAnswer(
  { context, visitorPage }: ListenerParts,
  { request, response, url, base }: Pick<Received, 'request' | 'response' | 'url' | 'base'>,
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
  const page = await visitorPage(url, { base, app: pages === undefined ? undefined : pages + path });
  // Nothing tells a browser whether what it may not read exists: the app asks for a sign-in first.
  return page ?? (isBrowser ? toApp() : undefined);
}

function kindOf(url: URL | null): 'git' | 'api' | 'web' {
  if (url === null) return 'web';
  if (url.pathname.startsWith(`${apiPrefix}/`)) return 'api';
  return isGitPath(url.pathname) || isLfsPath(url.pathname) ? 'git' : 'web';
}

/** What absolute addresses begin with: the guard before us has looked at the host. */
function baseOf(request: IncomingMessage, { context, publicUrl }: ListenerParts): string {
  const setting = publicUrl();
  return setting === '' ? (context.publicUrl(request) ?? 'http://127.0.0.1') : setting.replace(/\/+$/, '');
}

function json(response: ServerResponse, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text);
}

/** Git and people read plain text. */
function refuse({ context }: ListenerParts, request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (isDisconnectError(request, response, error)) {
    context.log.debug('client left before the end of its request', { method: request.method, error });
    return void response.destroy();
  }
  let problem = error instanceof Problem ? error : undefined;
  if (problem === undefined || problem.status >= 500) {
    const id = randomUUID();
    context.log.error('request failed', { id, method: request.method, error });
    problem ??= new Problem('git.failed', 500, `Something went wrong here; the log has it under ${id}.`);
  }
  if (response.headersSent) return void response.destroy();
  const body = `${problem.detail}\n`;
  if (!request.complete) response.setHeader('Connection', 'close');
  // A wrong password is asked for again, where there was one.
  const again = problem.status === 401 ? { 'WWW-Authenticate': 'Basic realm="Gitea"' } : {};
  response.writeHead(problem.status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'max-age=0, private, must-revalidate',
    ...again,
    ...problem.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
