import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Self } from '../aggregate/configured-addons.ts';
import type { Asker } from '../aggregate/request-context.ts';
import { reach } from '../aggregate/gather-streams.ts';
import { mergeCatalogs, mergedPrefix } from '../domain/catalogs.ts';
import { bingeGroup, toOutput } from '../domain/pipeline/output.ts';
import { decodeConfig } from '../domain/read-config.ts';
import { bitrateOf, type ParsedStream } from '../domain/stream.ts';
import type { RouteParts } from './route-dependencies.ts';
import { basicOf, sendEnvelope } from './response.ts';
import { throttled } from './users.ts';

/** Authenticates a tool by Basic authorization, or reads the configuration from a header. */
async function askerOf(parts: RouteParts, request: IncomingMessage): Promise<Asker> {
  const { askers, profiles } = parts;
  const given = request.headers['x-aiostreams-user-data'];
  if (typeof given === 'string') return askers.ofConfig(request, decodeConfig(given), given);
  const basic = basicOf(request);
  if (basic === undefined)
    throw new Problem(
      'addons.unauthorized',
      401,
      'Basic authorization or the header x-aiostreams-user-data is required.',
    );
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const { name, password } = basic;
  const profile = await throttled(parts.context, request, { name, password }, () => profiles.open(name, password));
  return askers.withProfile(request, profile, searchParams.get('v') ?? '');
}

/**
 * Answers `/api/v1/search` with the parsed and sorted streams of a title. Absent values are null, as tools of the peer
 * expect.
 */
export async function searchRoute(
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const asker = await askerOf(parts, request);
  const [type, id] = [url.searchParams.get('type'), url.searchParams.get('id')];
  if (type === null || id === null || type === '' || id === '')
    throw new Problem('addons.missing', 400, 'type and id are required');
  const found = await parts.aggregator.search(asker, { resource: 'stream', type, id, extra: {} });
  const format = url.searchParams.get('format') === 'true';
  const required = (url.searchParams.get('requiredFields') ?? '').split(',').filter((name) => name !== '');
  const { config } = asker;
  const output = {
    config,
    addonId: parts.settings.addonId,
    addonName: config.addonName || parts.settings.addonName,
    formatter: parts.aggregator.formatterFor(config),
    withData: false,
    context: found.formatContext,
  };
  const results = found.shown
    .map((stream) => ({
      ...searchResult(stream, bingeGroup(stream, output)),
      ...(format ? textsOf(toOutput(stream, output)) : {}),
    }))
    .filter((result: Record<string, unknown>) =>
      required.every((name) => result[name] !== null && result[name] !== undefined),
    );
  const errors = found.errors.map(({ title, sentence }) => ({ title, description: sentence }));
  await sendEnvelope(request, response, {
    status: 200,
    data: { filtered: found.hidden.length, results, statistics: [], errors },
  });
}

function textsOf({ name, description }: Record<string, unknown>): Record<string, unknown> {
  return { name, description };
}

function searchResult(stream: ParsedStream, group: string): Record<string, unknown> {
  const { upstream, hints } = stream;
  const of = (name: string): unknown => upstream[name] ?? null;
  const isTorrent = stream.type === 'p2p' || stream.type === 'debrid';
  return {
    infoHash: (isTorrent ? stream.infoHash : undefined) ?? null,
    url: stream.url ?? null,
    nzbUrl: of('nzbUrl'),
    rarUrls: of('rarUrls'),
    '7zipUrls': of('7zipUrls'),
    zipUrls: of('zipUrls'),
    tarUrls: of('tarUrls'),
    tgzUrls: of('tgzUrls'),
    seeders: stream.seeders ?? null,
    age: stream.age ?? null,
    sources: stream.sources ?? null,
    ytId: of('ytId'),
    externalUrl: of('externalUrl'),
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
    bitrate: bitrateOf(stream) ?? null,
    videoHash: hints['videoHash'] ?? null,
    subtitles: upstream['subtitles'] ?? [],
    countryWhitelist: hints['countryWhitelist'] ?? [],
    requestHeaders: {},
    responseHeaders: {},
    parsedFile: Object.fromEntries(Object.entries(stream.file).filter(([, value]) => value !== undefined)),
    service: stream.service?.id ?? null,
    cached: stream.service?.cached ?? null,
    servers: of('servers'),
    notWebReady: hints['notWebReady'] ?? null,
    bingeGroup: group,
    private: stream.private,
    seadexBest: stream.seadex === undefined ? null : stream.seadex === 'best',
    seadex: stream.seadex === undefined ? null : true,
  };
}

/** Returns the catalogs of a configuration as its addons list them. */
export async function catalogsOf(
  { aggregator, upstream }: Pick<RouteParts, 'aggregator' | 'upstream'>,
  asker: Self & Pick<Asker, 'config'>,
) {
  const { addons } = await reach(aggregator.configured(asker).addons, upstream);
  const names = new Map(addons.map(({ addon }) => [addon.instanceId, addon.name]));
  const sources = addons.map(({ addon: { instanceId }, manifest }) => ({ instanceId, manifest }));
  const catalogs = mergeCatalogs(sources, [], asker.config.mergedCatalogs ?? []);
  return catalogs.map((catalog) => ({
    ...catalog,
    addonName: catalog.id.startsWith(mergedPrefix)
      ? 'Merged'
      : (names.get(catalog.id.slice(0, catalog.id.indexOf('.'))) ?? ''),
  }));
}

/** Answers `/api/v1/catalogs`. */
export async function catalogsRoute(
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const data = await catalogsOf(parts, await askerOf(parts, request));
  await sendEnvelope(request, response, { status: 200, data });
}
