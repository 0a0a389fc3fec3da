import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { ConfigurationIdentity } from '../aggregate/configured-addons.ts';
import type { RequestContext } from '../aggregate/request-context.ts';
import { fetchManifests } from '../aggregate/gather-streams.ts';
import { mergeCatalogs, mergedPrefix } from '../domain/catalogs.ts';
import { buildBingeGroup, toClientStream } from '../domain/pipeline/output.ts';
import { decodeConfig } from '../domain/read-config.ts';
import { getBitrate, type ParsedStream } from '../domain/stream.ts';
import type { RouteDependencies } from './route-dependencies.ts';
import { parseBasicAuthorization, sendEnvelope } from './response.ts';
import { withThrottle } from './users.ts';

/** Authenticates a tool by Basic authorization, or reads the configuration from a header. */
async function getRequestContext(dependencies: RouteDependencies, request: IncomingMessage): Promise<RequestContext> {
  const { profiles } = dependencies;
  const { requestContexts } = dependencies.catalog;
  const encodedConfig = request.headers['x-aiostreams-user-data'];
  if (typeof encodedConfig === 'string')
    return requestContexts.fromConfig(request, decodeConfig(encodedConfig), encodedConfig);
  const basic = parseBasicAuthorization(request);
  if (basic === undefined)
    throw new Problem(
      'addons.unauthorized',
      401,
      'Basic authorization or the header x-aiostreams-user-data is required.',
    );
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const { name, password } = basic;
  const profile = await withThrottle(dependencies.context, request, { name, password }, () =>
    profiles.open(name, password),
  );
  return requestContexts.fromProfile(request, profile, searchParams.get('v') ?? '');
}

/**
 * Answers `/api/v1/search` with the parsed and sorted streams of a title. Absent values are null, as tools of the peer
 * expect.
 */
export async function handleSearch(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const requestContext = await getRequestContext(dependencies, request);
  const [type, id] = [url.searchParams.get('type'), url.searchParams.get('id')];
  if (type === null || id === null || type === '' || id === '')
    throw new Problem('addons.missing', 400, 'type and id are required');
  const searchResults = await dependencies.catalog.aggregator.search(requestContext, {
    resource: 'stream',
    type,
    id,
    extra: {},
  });
  const isFormatted = url.searchParams.get('format') === 'true';
  const requiredFields = (url.searchParams.get('requiredFields') ?? '').split(',').filter((name) => name !== '');
  const { config } = requestContext;
  const output = {
    config,
    addonId: dependencies.settings.addonId,
    addonName: config.addonName || dependencies.settings.addonName,
    formatter: dependencies.catalog.aggregator.getFormatter(config),
    withData: false,
    context: searchResults.formatContext,
  };
  const results = searchResults.visible
    .map((stream) => ({
      ...toSearchItem(stream, buildBingeGroup(stream, output)),
      ...(isFormatted ? pickTexts(toClientStream(stream, output)) : {}),
    }))
    .filter((result: Record<string, unknown>) =>
      requiredFields.every((name) => result[name] !== null && result[name] !== undefined),
    );
  const errors = searchResults.errors.map(({ title, sentence }) => ({ title, description: sentence }));
  await sendEnvelope(request, response, {
    status: 200,
    data: { filtered: searchResults.hidden.length, results, statistics: [], errors },
  });
}

function pickTexts({ name, description }: Record<string, unknown>): Record<string, unknown> {
  return { name, description };
}

function toSearchItem(stream: ParsedStream, group: string): Record<string, unknown> {
  const { upstream, hints } = stream;
  const getUpstreamField = (name: string): unknown => upstream[name] ?? null;
  const isTorrent = stream.type === 'p2p' || stream.type === 'debrid';
  return {
    infoHash: (isTorrent ? stream.infoHash : undefined) ?? null,
    url: stream.url ?? null,
    nzbUrl: getUpstreamField('nzbUrl'),
    rarUrls: getUpstreamField('rarUrls'),
    '7zipUrls': getUpstreamField('7zipUrls'),
    zipUrls: getUpstreamField('zipUrls'),
    tarUrls: getUpstreamField('tarUrls'),
    tgzUrls: getUpstreamField('tgzUrls'),
    seeders: stream.seeders ?? null,
    age: stream.age ?? null,
    sources: stream.sources ?? null,
    ytId: getUpstreamField('ytId'),
    externalUrl: getUpstreamField('externalUrl'),
    fileIdx: stream.fileIdx ?? null,
    proxied: stream.proxied,
    filename: stream.filename ?? null,
    folderName: stream.folderName ?? null,
    size: stream.size ?? null,
    folderSize: stream.folderSize ?? null,
    message: stream.message ?? null,
    library: stream.library,
    addon: stream.addon.name,
    type: stream.type,
    indexer: stream.indexer ?? null,
    duration: stream.duration,
    bitrate: getBitrate(stream) ?? null,
    videoHash: hints['videoHash'] ?? null,
    subtitles: upstream['subtitles'] ?? [],
    countryWhitelist: hints['countryWhitelist'] ?? [],
    requestHeaders: {},
    responseHeaders: {},
    parsedFile: Object.fromEntries(Object.entries(stream.file).filter(([, value]) => value !== undefined)),
    service: stream.service?.id ?? null,
    cached: stream.service?.cached ?? null,
    servers: getUpstreamField('servers'),
    notWebReady: hints['notWebReady'] ?? null,
    bingeGroup: group,
    private: stream.private,
    seadexBest: stream.seadex === undefined ? null : stream.seadex === 'best',
    seadex: stream.seadex === undefined ? null : true,
  };
}

/** Returns the catalogs of a configuration as its addons list them. */
export async function listConfigurationCatalogs(
  { catalog: { aggregator, upstream } }: Pick<RouteDependencies, 'catalog'>,
  requestContext: ConfigurationIdentity & Pick<RequestContext, 'config'>,
) {
  const { addons } = await fetchManifests(aggregator.resolveAddons(requestContext).addons, upstream);
  const names = new Map(addons.map(({ addon }) => [addon.instanceId, addon.name]));
  const sources = addons.map(({ addon: { instanceId }, manifest }) => ({ instanceId, manifest }));
  const catalogs = mergeCatalogs(sources, [], requestContext.config.mergedCatalogs ?? []);
  return catalogs.map((catalog) => ({
    ...catalog,
    addonName: catalog.id.startsWith(mergedPrefix)
      ? 'Merged'
      : (names.get(catalog.id.slice(0, catalog.id.indexOf('.'))) ?? ''),
  }));
}

/** Answers `/api/v1/catalogs`. */
export async function handleCatalogs(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const data = await listConfigurationCatalogs(dependencies, await getRequestContext(dependencies, request));
  await sendEnvelope(request, response, { status: 200, data });
}
