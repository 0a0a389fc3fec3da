import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { redirectToAppPage } from '../../kit/redirect-to-app.ts';
import { Problem } from '../../contracts/problem.ts';
import { readConfig } from '../domain/read-config.ts';
import { readAddonPath, type AddonPath } from '../domain/resource-path.ts';
import { readVariant } from '../domain/variants/variants.ts';
import type { Asker } from '../aggregate/request-context.ts';
import { errorBody } from '../aggregate/error-items.ts';
import { exportRoute } from './export.ts';
import { addonProxyRoute, playbackRoute, staticRoute } from './media.ts';
import type { RouteParts } from './route-dependencies.ts';
import type { LimitedKind } from './rate-limits.ts';
import { mostNested, nesting, nestingOf } from '../upstream/nesting.ts';
import { allowAll, basicOf, readBody, redirect, sendEnvelope, sendError, sendJson } from './response.ts';
import { formatRoute } from './format.ts';
import { statusRoute } from './status.ts';
import { catalogsRoute, searchRoute } from './search.ts';
import { create, requirePassword, userRoutes, withoutNotes } from './users.ts';

/** Answers the routes of the specification, of the peer and of the Stremio protocol on the port of the service. */
export function addonsListener(parts: RouteParts): RequestListener {
  const { log } = parts.context;
  return (request, response) => {
    allowAll(response);
    answer(parts, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendError(request, response, error, log).catch(() => response.destroy());
    });
  };
}

const reserved = new Set(['api', 'stremio', 'static', 'proxy', 'export', 'configure', 'health', 'manifest.json']);

async function answer(parts: RouteParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = request.url ?? '/';
  // A path that begins with several slashes must not be parsed as the host of another server.
  const url = new URL(`http://localhost${target.startsWith('/') ? '' : '/'}${target.replace(/^\/{2,}/, '/')}`);
  const queryAt = target.indexOf('?');
  const path = (queryAt === -1 ? target : target.slice(0, queryAt)).replace(/^\/{2,}/, '/');
  if (request.method === 'OPTIONS')
    return void response.writeHead(200, { 'Content-Type': 'text/plain' }).end('GET, HEAD');
  const [, first = ''] = path.split('/', 2);
  if (first === 'api') return await apiRoutes(parts, request, response, path, url);
  if (first === 'stremio') return await stremioRoutes(parts, request, response, path.slice('/stremio'.length), url);
  if (first === 'static') return await staticRoute(request, response, path.slice('/static/'.length));
  if (path === '/health') return await sendJson(request, response, '{"status":"ok"}');
  if (path === '/export') return await exportRoute(parts, request, response, url);
  if (first === 'proxy')
    return await proxied(parts, request, response, path.slice('/proxy/'.length), url.searchParams.get('userId') ?? '');
  if (path === '/configure' && request.method === 'POST') return await configure(parts, request, response);
  if (path === '/configure' || path === '/configure/' || path === '/') return leadToPage(parts, request, response);
  requireRead(request);
  const below = `/${first}`;
  // Routes for `?config=` on the root, and for addresses that clients build from it.
  const rooted = readAddonPath(path);
  if (rooted !== undefined && (first === 'manifest.json' || !path.startsWith('/A')))
    return await addonRoutes(parts, request, response, rooted, () => {
      const config = url.searchParams.get('config');
      return config === null ? undefined : parts.askers.ofAddress(request, config);
    });
  if (reserved.has(first)) throw notFound();
  const rest = path.slice(below.length);
  const user = parts.profiles.readSegment(first);
  if (user !== undefined) {
    if (rest.startsWith('/proxy/')) return await proxied(parts, request, response, rest.slice('/proxy/'.length), first);
    const { path: asked, variants } = readVariant(rest, url.searchParams);
    return await addonRoutes(parts, request, response, requirePath(asked), () =>
      parts.askers.ofProfile(request, user.uuid, user.encryptedPassword, variants),
    );
  }
  if (/^(?:B-|E2-)/.test(first))
    return await addonRoutes(parts, request, response, requirePath(rest), () => {
      throw new Problem(
        'addons.legacy',
        400,
        'This address is of another program. Open this to make a configuration here.',
      );
    });
  if (/^(?:eyJ|ew)[\w+/=%-]*$/.test(first))
    return await addonRoutes(parts, request, response, requirePath(rest), () =>
      parts.askers.ofAddress(request, decodeSegment(first)),
    );
  throw notFound();
}

async function stremioRoutes(
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  url: URL,
): Promise<void> {
  requireRead(request);
  const unconfigured = readAddonPath(path);
  if (unconfigured !== undefined) return await addonRoutes(parts, request, response, unconfigured, () => undefined);
  const [, uuid = '', encrypted = '', ...rest] = path.split('/');
  if (uuid === 'u') {
    const profile = await aliased(parts, encrypted);
    return redirect(response, `/stremio/${profile}/${rest.join('/')}${url.search}`);
  }
  if (rest.length === 0) throw notFound();
  const { path: asked, variants } = readVariant(`/${rest.join('/')}`, url.searchParams);
  await addonRoutes(parts, request, response, requirePath(asked), () =>
    parts.askers.ofProfile(request, uuid, encrypted, variants),
  );
}

/** Resolves an alias, which is the ID of a configuration that is managed on the page. */
async function aliased({ profiles }: RouteParts, alias: string): Promise<string> {
  const kept = await profiles.kept();
  const found = kept.find(({ uuid }) => uuid === alias);
  if (found === undefined) throw notFound();
  const { uuid, encryptedPassword } = await profiles.own(found.uuid, found.password);
  return `${uuid}/${encryptedPassword}`;
}

async function addonRoutes(
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
  path: AddonPath,
  find: () => Asker | undefined | Promise<Asker | undefined>,
): Promise<void> {
  const { aggregator, metrics, limits, context, settings } = parts;
  if (path.kind === 'configure') return leadToPage(parts, request, response);
  const kind = path.kind === 'manifest' ? 'manifest' : path.resource === 'addon_catalog' ? 'catalog' : path.resource;
  metrics.requests.inc({ resource: kind });
  limits.count(kind as LimitedKind, context.caller(request).remoteAddress, request.url ?? '', response);
  if (path.kind === 'manifest') {
    const asker = await find();
    const manifest = asker === undefined ? aggregator.unconfigured() : await aggregator.manifest(asker);
    return await sendJson(request, response, JSON.stringify(manifest));
  }
  const link = `${parts.askers.baseUrl(request)}/stremio/configure`;
  let asker: Asker | undefined;
  try {
    asker = await find();
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return await sendJson(request, response, errorText(path, settings.addonName, error.detail, link));
  }
  if (asker === undefined)
    return await sendJson(
      request,
      response,
      errorText(path, settings.addonName, 'Please configure the addon first', link),
    );
  const nested = nestingOf(request.headers['user-agent']);
  if (nested > mostNested)
    return await sendJson(
      request,
      response,
      errorText(
        path,
        settings.addonName,
        'This addon asks itself by way of others, so the answer would never come.',
        link,
      ),
    );
  const whose = asker;
  const { text, status } = await nesting.run(nested, () => aggregator.resource(whose, path));
  await sendJson(request, response, text, status);
  if (nested === 0 && request.method === 'GET') parts.precacher.follow(whose, path);
}

function errorText(
  path: AddonPath & { readonly kind: 'resource' },
  title: string,
  sentence: string,
  link: string,
): string {
  return JSON.stringify(errorBody(path.resource, path.type, [{ title, sentence }], link));
}

async function apiRoutes(
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  url: URL,
): Promise<void> {
  const { limits, context, pool, proxy } = parts;
  const count = (kind: LimitedKind): void =>
    limits.count(kind, context.caller(request).remoteAddress, basicOf(request)?.name ?? '', response);
  const v1 = path.startsWith('/api/v1/') ? path.slice('/api/v1/'.length) : '';
  if (v1.startsWith('user')) {
    count('user');
    if (await userRoutes(parts, request, response, url)) return;
  } else if (v1 === 'format') {
    count('format');
    if (request.method !== 'POST') throw new Problem('addons.method', 405, 'Method not allowed');
    return await formatRoute(parts, request, response);
  } else if (v1 === 'catalogs') {
    count('catalog');
    return await catalogsRoute(parts, request, response);
  } else if (v1 !== '') {
    requireRead(request);
    if (v1 === 'status') return await statusRoute(parts, request, response);
    if (v1 === 'health') return await sendEnvelope(request, response, { status: 200, detail: 'OK' });
    if (v1 === 'providers/health')
      return await sendEnvelope(request, response, { status: 200, data: pool.health.list() });
    if (v1 === 'search') {
      count('search');
      return await searchRoute(parts, request, response, url);
    }
    if (v1.startsWith('debrid/playback/')) {
      count('proxy');
      return await playbackRoute(parts, request, response, v1.slice('debrid/playback/'.length).split('/'));
    }
    if (v1.startsWith('proxy/')) return await proxy.serve(request, response, v1.split('/')[1] ?? '');
  }
  await sendEnvelope(request, response, { status: 404, detail: 'Not Found' });
}

/** Creates a configuration through the route of the specification. */
async function configure(parts: RouteParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { limits, context, profiles, askers } = parts;
  limits.count('user', context.caller(request).remoteAddress, '', response);
  const body = await readBody(request);
  // Accepts the configuration itself, or the envelope of the user API.
  const { config: inner, password: given, ...rest } = body;
  const config = readConfig(withoutNotes(inner ?? rest));
  await requirePassword(parts, request, { ...rest, ...config });
  const password = typeof given === 'string' && given !== '' ? given : context.random.text(24);
  const profile = await create(parts, request, config, password);
  const userId = profiles.segment(profile);
  const manifestUrl = `${askers.baseUrl(request)}/${userId}/manifest.json`;
  await sendEnvelope(request, response, {
    status: 201,
    data: { userId, uuid: profile.uuid, manifestUrl, stremioUrl: manifestUrl.replace(/^https?:/, 'stremio:') },
  });
}

async function proxied(
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
  rest: string,
  userId: string,
): Promise<void> {
  requireRead(request);
  parts.limits.count('proxy', parts.context.caller(request).remoteAddress, userId, response);
  const at = rest.indexOf('/');
  if (at === -1) throw notFound();
  await addonProxyRoute(parts, request, response, { userId, addonId: rest.slice(0, at), endpoint: rest.slice(at + 1) });
}

/** Redirects browsers to the page where configurations are edited. */
function leadToPage({ context }: RouteParts, request: IncomingMessage, response: ServerResponse): void {
  const headers = { 'Cache-Control': 'no-store' };
  if (!redirectToAppPage(request, response, { pages: context.appPages, path: '/addons', headers })) throw notFound();
}

/**
 * Decodes a path segment.
 *
 * @throws Problem `addons.unknown_path` (404) for invalid UTF-8.
 */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw notFound();
  }
}

function requirePath(path: string): AddonPath {
  const read = readAddonPath(path);
  if (read === undefined) throw notFound();
  return read;
}

function requireRead({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'HEAD') throw new Problem('addons.method', 405, 'Method not allowed');
}

function notFound(): Problem {
  return new Problem('addons.unknown_path', 404, 'Not Found');
}
