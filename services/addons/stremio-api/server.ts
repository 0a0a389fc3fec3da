import { readTexts } from '../../contracts/text.ts';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { redirectToAppPage } from '../../kit/http/redirect-to-app.ts';
import { Problem } from '../../contracts/problem.ts';
import { sendReply, textReply } from '../../kit/http/respond.ts';
import { readConfig } from '../domain/read-config.ts';
import { parseAddonPath, type AddonPath } from '../domain/resource-path.ts';
import { parseVariantPath } from '../domain/variants/variants.ts';
import type { RequestContext } from '../aggregate/request-context.ts';
import { buildErrorBody } from '../aggregate/error-items.ts';
import { handleExport } from './export.ts';
import { handleAddonProxy, handlePlayback, handleStatic } from './media.ts';
import type { RouteDependencies } from './route-dependencies.ts';
import type { LimitedKind } from './rate-limits.ts';
import { decodeAddressSegment, encodeAddressSegment } from '../profiles/address-segment.ts';
import { maxNestingLevel, nestingLevel, getNestingLevel } from '../upstream/nesting.ts';
import {
  setCorsHeaders,
  parseBasicAuthorization,
  readBody,
  redirect,
  sendEnvelope,
  sendError,
  sendJson,
} from './response.ts';
import { handleFormat } from './format.ts';
import { handleStatus } from './status.ts';
import { handleCatalogs, handleSearch } from './search.ts';
import { createProfile, requirePassword, handleUsers, withoutNotes } from './users.ts';
import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

/** Answers the routes of the specification, of the peer and of the Stremio protocol on the port of the service. */
export function createListener(dependencies: RouteDependencies): RequestListener {
  const { log } = dependencies.context;
  return (request, response) => {
    setCorsHeaders(response);
    handleRequest(dependencies, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendError(request, response, error, log).catch(() => response.destroy());
    });
  };
}

const reservedSegments = new Set([
  'api',
  'stremio',
  'static',
  'proxy',
  'export',
  'configure',
  'health',
  'manifest.json',
]);

async function handleRequest(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? '/';
  // A path that begins with several slashes must not be parsed as the host of another server.
  const url = new URL(`http://localhost${target.startsWith('/') ? '' : '/'}${target.replace(/^\/{2,}/, '/')}`);
  const queryAt = target.indexOf('?');
  const path = (queryAt === -1 ? target : target.slice(0, queryAt)).replace(/^\/{2,}/, '/');
  if (request.method === 'OPTIONS')
    return sendReply(response, textReply(200, 'GET, HEAD', { 'Content-Type': 'text/plain' }));
  const [, firstSegment = ''] = path.split('/', 2);
  if (firstSegment === 'api') return await handleApi(dependencies, request, response, path, url);
  if (firstSegment === 'stremio')
    return await handleStremio(dependencies, request, response, path.slice('/stremio'.length), url);
  if (firstSegment === 'static') return await handleStatic(request, response, path.slice('/static/'.length));
  if (path === '/health') return await sendJson(request, response, '{"status":"ok"}');
  if (path === '/export') return await handleExport(dependencies, request, response, url);
  if (firstSegment === 'proxy')
    return await handleProxy(
      dependencies,
      request,
      response,
      path.slice('/proxy/'.length),
      url.searchParams.get('userId') ?? '',
    );
  if (path === '/configure' && request.method === 'POST') return await handleConfigure(dependencies, request, response);
  if (path === '/configure' || path === '/configure/' || path === '/')
    return redirectToPage(dependencies, request, response);
  requireReadMethod(request);
  await handleAddressedConfiguration(dependencies, request, response, path, url);
}

/** Answers addresses whose first segment identifies a configuration or contains it. */
async function handleAddressedConfiguration(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  url: URL,
): Promise<void> {
  const [, firstSegment = ''] = path.split('/', 2);
  const segmentPath = `/${firstSegment}`;
  // Routes for `?config=` on the root, and for addresses that clients build from it.
  const rootPath = parseAddonPath(path);
  if (rootPath !== undefined && (firstSegment === 'manifest.json' || !path.startsWith('/A')))
    return await handleAddon(dependencies, request, response, rootPath, () => {
      const config = url.searchParams.get('config');
      return config === null ? undefined : dependencies.catalog.requestContexts.fromAddress(request, config);
    });
  if (reservedSegments.has(firstSegment)) throw createNotFoundProblem();
  const rest = path.slice(segmentPath.length);
  const user = decodeAddressSegment(firstSegment);
  if (user !== undefined) {
    if (rest.startsWith('/proxy/'))
      return await handleProxy(dependencies, request, response, rest.slice('/proxy/'.length), firstSegment);
    const { path: resourcePath, variants } = parseVariantPath(rest, url.searchParams);
    return await handleAddon(dependencies, request, response, requirePath(resourcePath), () =>
      dependencies.catalog.requestContexts.fromInstallAddress(request, user.uuid, user.encryptedPassword, variants),
    );
  }
  if (/^(?:B-|E2-)/.test(firstSegment))
    return await handleAddon(dependencies, request, response, requirePath(rest), () => {
      throw new Problem(
        'addons.legacy',
        400,
        'This address belongs to another program. Open this to create a configuration here.',
      );
    });
  if (/^(?:eyJ|ew)[\w+/=%-]*$/.test(firstSegment))
    return await handleAddon(dependencies, request, response, requirePath(rest), () =>
      dependencies.catalog.requestContexts.fromAddress(request, decodeSegment(firstSegment)),
    );
  throw createNotFoundProblem();
}

async function handleStremio(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  url: URL,
): Promise<void> {
  requireReadMethod(request);
  const unconfigured = parseAddonPath(path);
  if (unconfigured !== undefined)
    return await handleAddon(dependencies, request, response, unconfigured, () => undefined);
  const [, uuid = '', encrypted = '', ...rest] = path.split('/');
  if (uuid === 'u') {
    const profile = await resolveAlias(dependencies, encrypted);
    return redirect(response, `/stremio/${profile}/${rest.join('/')}${url.search}`);
  }
  if (rest.length === 0) throw createNotFoundProblem();
  const { path: resourcePath, variants } = parseVariantPath(`/${rest.join('/')}`, url.searchParams);
  await handleAddon(dependencies, request, response, requirePath(resourcePath), () =>
    dependencies.catalog.requestContexts.fromInstallAddress(request, uuid, encrypted, variants),
  );
}

/** Resolves an alias, which is the ID of a configuration that is managed on the page. */
async function resolveAlias({ profiles }: RouteDependencies, alias: string): Promise<string> {
  const managedProfiles = await profiles.listManaged();
  const profile = managedProfiles.find(({ uuid }) => uuid === alias);
  if (profile === undefined) throw createNotFoundProblem();
  const { uuid, encryptedPassword } = await profiles.getStored(profile.uuid, profile.password);
  return `${uuid}/${encryptedPassword}`;
}

async function handleAddon(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  path: AddonPath,
  find: () => RequestContext | undefined | Promise<RequestContext | undefined>,
): Promise<void> {
  const { traffic, context, settings } = dependencies;
  const { limits, metrics } = traffic;
  const { aggregator } = dependencies.catalog;
  if (path.kind === 'configure') return redirectToPage(dependencies, request, response);
  const resourceKind =
    path.kind === 'manifest' ? 'manifest' : path.resource === 'addon_catalog' ? 'catalog' : path.resource;
  metrics.requests.inc({ resource: resourceKind });
  limits.count(resourceKind as LimitedKind, context.caller(request).remoteAddress, request.url ?? '', response);
  if (path.kind === 'manifest') {
    const requestContext = await find();
    const manifest =
      requestContext === undefined
        ? aggregator.getUnconfiguredManifest()
        : await aggregator.getManifest(requestContext);
    return await sendJson(request, response, JSON.stringify(manifest));
  }
  const link = `${dependencies.catalog.requestContexts.getBaseUrl(request)}/stremio/configure`;
  let requestContext: RequestContext | undefined;
  try {
    requestContext = await find();
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return await sendJson(request, response, buildErrorText(path, settings.addonName, error.detail, link));
  }
  if (requestContext === undefined)
    return await sendJson(
      request,
      response,
      buildErrorText(path, settings.addonName, 'Please configure the addon first', link),
    );
  const nestingDepth = getNestingLevel(request.headers['user-agent']);
  if (nestingDepth > maxNestingLevel)
    return await sendJson(
      request,
      response,
      buildErrorText(
        path,
        settings.addonName,
        'This addon requests itself through other addons in an endless loop.',
        link,
      ),
    );
  const resolvedContext = requestContext;
  const { text, status } = await nestingLevel.run(nestingDepth, () => aggregator.getResource(resolvedContext, path));
  await sendJson(request, response, text, status);
  if (nestingDepth === 0 && request.method === 'GET')
    dependencies.playback.precacher.precacheNextEpisode(resolvedContext, path);
}

function buildErrorText(
  path: AddonPath & { readonly kind: 'resource' },
  title: string,
  sentence: string,
  link: string,
): string {
  return JSON.stringify(buildErrorBody(path.resource, path.type, [{ title, sentence }], link));
}

async function handleApi(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  url: URL,
): Promise<void> {
  const { traffic, context } = dependencies;
  const { limits } = traffic;
  const { pool, proxy } = dependencies.playback;
  const countRequest = (kind: LimitedKind): void =>
    limits.count(kind, context.caller(request).remoteAddress, parseBasicAuthorization(request)?.name ?? '', response);
  const apiPath = path.startsWith('/api/v1/') ? path.slice('/api/v1/'.length) : '';
  if (apiPath.startsWith('user')) {
    countRequest('user');
    if (await handleUsers(dependencies, request, response, url)) return;
  } else if (apiPath === 'format') {
    countRequest('format');
    if (request.method !== 'POST') throw new Problem('addons.method', 405, 'Method not allowed');
    return await handleFormat(dependencies, request, response);
  } else if (apiPath === 'catalogs') {
    countRequest('catalog');
    return await handleCatalogs(dependencies, request, response);
  } else if (apiPath !== '') {
    requireReadMethod(request);
    if (apiPath === 'status') return await handleStatus(dependencies, request, response);
    if (apiPath === 'health') return await sendEnvelope(request, response, { status: 200, detail: 'OK' });
    if (apiPath === 'providers/health')
      return await sendEnvelope(request, response, { status: 200, data: readTexts(pool.health.list()) });
    if (apiPath === 'search') {
      countRequest('search');
      return await handleSearch(dependencies, request, response, url);
    }
    if (apiPath.startsWith('debrid/playback/')) {
      countRequest('proxy');
      return await handlePlayback(dependencies, request, response, apiPath.slice('debrid/playback/'.length).split('/'));
    }
    if (apiPath.startsWith('proxy/')) return await proxy.serve(request, response, apiPath.split('/')[1] ?? '');
  }
  await sendEnvelope(request, response, { status: 404, detail: 'Not Found' });
}

/** Creates a configuration through the route of the specification. */
async function handleConfigure(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { traffic, context } = dependencies;
  const { limits } = traffic;
  const { requestContexts } = dependencies.catalog;
  limits.count('user', context.caller(request).remoteAddress, '', response);
  const body = await readBody(request);
  // Accepts the configuration itself, or the envelope of the user API.
  const { config: nestedConfig, password: requestedPassword, ...rest } = body;
  const config = readConfig(withoutNotes(nestedConfig ?? rest));
  await requirePassword(dependencies, request, { ...rest, ...config });
  const password =
    typeof requestedPassword === 'string' && requestedPassword !== '' ? requestedPassword : context.random.text(24);
  const profile = await createProfile(dependencies, request, config, password);
  const userId = encodeAddressSegment(profile);
  const manifestUrl = `${requestContexts.getBaseUrl(request)}/${userId}/manifest.json`;
  await sendEnvelope(request, response, {
    status: 201,
    data: { userId, uuid: profile.uuid, manifestUrl, stremioUrl: manifestUrl.replace(/^https?:/, 'stremio:') },
  });
}

async function handleProxy(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  rest: string,
  userId: string,
): Promise<void> {
  requireReadMethod(request);
  dependencies.traffic.limits.count('proxy', dependencies.context.caller(request).remoteAddress, userId, response);
  const separatorIndex = rest.indexOf('/');
  if (separatorIndex === -1) throw createNotFoundProblem();
  await handleAddonProxy(dependencies, request, response, {
    userId,
    addonId: rest.slice(0, separatorIndex),
    endpoint: rest.slice(separatorIndex + 1),
  });
}

/** Redirects browsers to the page where configurations are edited. */
function redirectToPage({ context }: RouteDependencies, request: IncomingMessage, response: ServerResponse): void {
  const headers = { 'Cache-Control': 'no-store' };
  if (!redirectToAppPage(request, response, { pages: context.appPages, path: '/addons', headers }))
    throw createNotFoundProblem();
}

/**
 * Decodes a path segment.
 *
 * @throws Problem `addons.unknown_path` (404) for invalid UTF-8.
 */
function decodeSegment(segment: string): string {
  const decoded = decodePercentEncoding(segment);
  if (decoded === undefined) throw createNotFoundProblem();
  return decoded;
}

function requirePath(path: string): AddonPath {
  const parsedPath = parseAddonPath(path);
  if (parsedPath === undefined) throw createNotFoundProblem();
  return parsedPath;
}

function requireReadMethod({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'HEAD') throw new Problem('addons.method', 405, 'Method not allowed');
}

function createNotFoundProblem(): Problem {
  return new Problem('addons.unknown_path', 404, 'Not Found');
}
