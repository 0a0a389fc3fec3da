import * as m from '#messages/addons-problems';
import {
  listCatalogs,
  mergedPrefix,
  supportsExtra,
  buildMergedCatalogs,
  type MergedCatalogSources,
} from '../domain/catalogs.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { CatalogModification } from '../domain/config-catalogs.ts';
import { mergeEntries, shuffle, type Entry } from '../domain/merge-entries.ts';
import { addPosters } from '../domain/posters.ts';
import { usesRating, parseRating, findRatingRemoval } from '../domain/rating.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import { toUpstreamFailure } from '../upstream/upstream-failure.ts';
import type { UpstreamClient } from '../upstream/upstream.ts';
import { buildErrorBody, type ErrorItem } from './error-items.ts';
import type { ReachableAddons } from './gather-streams.ts';
import { hidesErrors, type ResourceContext } from './other-resources.ts';

/** Maximum duration of a catalog request. */
const catalogTimeoutMs = 30_000;
/** Page length that players use. */
const pageLength = 100;
/** Maximum number of requests to each addon of a merged catalog for one page. */
const maxRounds = 40;
const hourMs = 3_600_000;

type ReachableAddon = ReachableAddons['addons'][number];

export interface CatalogContext {
  readonly upstream: UpstreamClient;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
  /** Random text for the order of shuffled catalogs. */
  readonly randomSeed: string;
}

/** Answers a catalog of one addon, whose instance ID is the prefix of the catalog ID, or a merged catalog. */
export async function getCatalog(
  catalogContext: CatalogContext,
  requestContext: ResourceContext,
  request: ResourceRequest,
  addons: readonly ReachableAddon[],
): Promise<Record<string, unknown>> {
  const { config } = requestContext;
  const modification = config.catalogModifications?.find(
    ({ id, overrideType, type }) => id === request.id && (overrideType === request.type || type === request.type),
  );
  const upstreamRequest = {
    ...request,
    type: modification?.type ?? request.type,
    extra: getUpstreamExtra(request, modification),
  };
  const mergedCatalog = findMergedCatalog(upstreamRequest, config, addons);
  const member = request.resource === 'catalog' ? 'metas' : 'addons';
  const { entries, errors } =
    mergedCatalog === undefined
      ? await fetchAddonCatalog(catalogContext.upstream, upstreamRequest, addons)
      : await fetchMergedCatalog(catalogContext.upstream, upstreamRequest, addons, mergedCatalog);
  const visibleEntries = entries.filter((entry) => !isExcludedByRating(entry, config, request.resource));
  const orderedEntries = modification?.reverse === true ? visibleEntries.toReversed() : visibleEntries;
  const listedEntries = isShuffled(modification, upstreamRequest)
    ? shuffle(orderedEntries, getShuffleSeed(modification, upstreamRequest, catalogContext))
    : orderedEntries;
  const list = request.resource === 'catalog' ? addPosters(listedEntries, upstreamRequest.type, config) : listedEntries;
  if (errors.length === 0 || hidesErrors(config, 'catalog')) return { [member]: list };
  const cards = buildErrorBody(request.resource, request.type, errors, requestContext.configureUrl)[member];
  return { [member]: [...list, ...(Array.isArray(cards) ? (cards as unknown[]) : [])] };
}

/** Removes the genre `None`, which is only listed to keep a catalog off the home page, and means all genres. */
function getUpstreamExtra(
  { extra }: ResourceRequest,
  modification: CatalogModification | undefined,
): ResourceRequest['extra'] {
  if (extra['genre'] !== 'None' || modification?.onlyOnDiscover !== true) return extra;
  const { genre: _genre, ...rest } = extra;
  return rest;
}

function findMergedCatalog(
  { id, type, resource }: ResourceRequest,
  { mergedCatalogs }: AddonConfig,
  addons: readonly ReachableAddon[],
): MergedCatalogSources | undefined {
  if (resource !== 'catalog' || !mergedCatalogs?.some((catalog) => catalog.id === id)) return undefined;
  const sources = addons.map(({ addon: { instanceId }, manifest }) => ({ instanceId, manifest }));
  return buildMergedCatalogs(listCatalogs(sources, 'catalogs'), mergedCatalogs).find(
    ({ definition }) => definition.id === id && definition.type === type,
  );
}

interface CatalogPage {
  readonly entries: readonly Entry[];
  readonly errors: readonly ErrorItem[];
}

async function fetchAddonCatalog(
  upstream: UpstreamClient,
  request: ResourceRequest,
  addons: readonly ReachableAddon[],
): Promise<CatalogPage> {
  const separatorIndex = request.id.indexOf('.');
  const instanceId = separatorIndex === -1 ? request.id : request.id.slice(0, separatorIndex);
  const reachable = addons.find(({ addon }) => addon.instanceId === instanceId);
  if (reachable === undefined) {
    const title = request.id.startsWith(mergedPrefix)
      ? m.mergedCatalogNotFound()
      : m.addonInstanceNotFound({ instanceId });
    return {
      entries: [],
      errors: [{ title, sentence: m.catalogNotFound() }],
    };
  }
  return await fetchPage(upstream, reachable, { ...request, id: request.id.slice(separatorIndex + 1) });
}

async function fetchPage(
  upstream: UpstreamClient,
  { addon }: ReachableAddon,
  request: ResourceRequest,
): Promise<CatalogPage> {
  try {
    const body = await upstream.getResource(addon, request, catalogTimeoutMs);
    const list: unknown = body[request.resource === 'catalog' ? 'metas' : 'addons'];
    const entries = Array.isArray(list)
      ? list.filter((item: unknown): item is Entry => typeof item === 'object' && item !== null)
      : [];
    return { entries, errors: [] };
  } catch (error) {
    const { sentence } = toUpstreamFailure(error, addon.name, catalogTimeoutMs);
    return { entries: [], errors: [{ title: addon.name, sentence }] };
  }
}

/**
 * Returns one page of a merged catalog. Addons have different page lengths, so the list is built from the beginning
 * each time. Former pages of the addons are cached.
 */
async function fetchMergedCatalog(
  upstream: UpstreamClient,
  request: ResourceRequest,
  addons: readonly ReachableAddon[],
  { definition, sources: catalogSources }: MergedCatalogSources,
): Promise<CatalogPage> {
  const skip = Math.max(0, Number(request.extra['skip'] ?? 0) || 0);
  const { skip: _skip, ...extra } = request.extra;
  const sources = catalogSources.flatMap((part) => {
    const separatorIndex = part.id.indexOf('.');
    const addon = addons.find(({ addon: { instanceId } }) => instanceId === part.id.slice(0, separatorIndex));
    if (addon === undefined || !supportsExtra(part, extra)) return [];
    const pages = part.extra?.some(({ name }) => name === 'skip') === true;
    return [{ addon, id: part.id.slice(separatorIndex + 1), type: part.type, pages, seen: 0, ended: false }];
  });
  const knownKeys = new Set<string>();
  const entries: Entry[] = [];
  const errors: ErrorItem[] = [];
  const isInterleaved = (definition.mergeMethod ?? 'sequential') !== 'sequential';
  for (let round = 0; round < maxRounds && entries.length < skip + pageLength; round += 1) {
    const openSources = sources.filter(({ ended }) => !ended);
    const currentSources = isInterleaved ? openSources : openSources.slice(0, 1);
    if (currentSources.length === 0) break;
    const pages = await Promise.all(
      currentSources.map(async (source) => {
        const pageExtra = source.seen === 0 ? {} : { skip: String(source.seen) };
        const pageRequest = { ...request, type: source.type, id: source.id, extra: { ...extra, ...pageExtra } };
        const catalogPage = await fetchPage(upstream, source.addon, pageRequest);
        source.seen += catalogPage.entries.length;
        source.ended = catalogPage.entries.length === 0 || !source.pages;
        errors.push(...catalogPage.errors);
        return catalogPage.entries;
      }),
    );
    entries.push(...mergeEntries(pages, definition, knownKeys));
  }
  return { entries: entries.slice(skip, skip + pageLength), errors: skip === 0 ? errors : [] };
}

function isShuffled(modification: CatalogModification | undefined, { extra, resource }: ResourceRequest): boolean {
  return resource === 'catalog' && modification?.shuffle === true && extra['search'] === undefined;
}

function getShuffleSeed(
  modification: CatalogModification | undefined,
  { id, type, extra }: ResourceRequest,
  { now, randomSeed }: CatalogContext,
): string {
  const hours = modification?.persistShuffleFor ?? 0;
  return hours > 0 ? [type, id, JSON.stringify(extra), Math.floor(now / (hours * hourMs))].join(' ') : randomSeed;
}

/** Returns true for entries whose age rating the configuration excludes. Most catalogs contain no rating. */
function isExcludedByRating(item: unknown, config: AddonConfig, resource: string): boolean {
  if (resource !== 'catalog' || !usesRating(config)) return false;
  const rating = parseRating(item);
  const hasRating = rating.certifications.length > 0 || rating.nudity !== undefined;
  return hasRating && findRatingRemoval(rating, config) !== undefined;
}
