import { listCatalogs, mergedPrefix, takesExtra, unionsOf, type CatalogUnion } from '../domain/catalogs.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { CatalogModification } from '../domain/config-catalogs.ts';
import { mergeEntries, shuffled, type Entry } from '../domain/merge-entries.ts';
import { withPosters } from '../domain/posters.ts';
import { looksAtRating, ratingOf, ratingProblem } from '../domain/rating.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import { explainUpstream } from '../upstream/upstream-failure.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { errorBody, type ShownError } from './error-items.ts';
import type { Reached } from './gather-streams.ts';
import { isHidden, type ResourceAsker } from './other-resources.ts';

/** Maximum duration of a catalog request. */
const catalogMs = 30_000;
/** Page length that players use. */
const pageLength = 100;
/** Maximum number of requests to each addon of a merged catalog for one page. */
const mostRounds = 40;
const hour = 3_600_000;

type Reachable = Reached['addons'][number];

export interface CatalogParts {
  readonly upstream: Upstream;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
  /** Random text for the order of shuffled catalogs. */
  readonly luck: string;
}

/** Answers a catalog of one addon, whose instance ID is the prefix of the catalog ID, or a merged catalog. */
export async function answerCatalog(
  parts: CatalogParts,
  asker: ResourceAsker,
  request: ResourceRequest,
  addons: readonly Reachable[],
): Promise<Record<string, unknown>> {
  const { config } = asker;
  const change = config.catalogModifications?.find(
    ({ id, overrideType, type }) => id === request.id && (overrideType === request.type || type === request.type),
  );
  const asked = { ...request, type: change?.type ?? request.type, extra: extraOf(request, change) };
  const union = unionOf(asked, config, addons);
  const member = request.resource === 'catalog' ? 'metas' : 'addons';
  const { entries, errors } =
    union === undefined
      ? await ofOne(parts.upstream, asked, addons)
      : await ofSeveral(parts.upstream, asked, addons, union);
  const wanted = entries.filter((entry) => !isKeptAway(entry, config, request.resource));
  const turned = change?.reverse === true ? wanted.toReversed() : wanted;
  const inOrder = isShuffled(change, asked) ? shuffled(turned, seedOf(change, asked, parts)) : turned;
  const list = request.resource === 'catalog' ? withPosters(inOrder, asked.type, config) : inOrder;
  if (errors.length === 0 || isHidden(config, 'catalog')) return { [member]: list };
  const cards = errorBody(request.resource, request.type, errors, asker.configureUrl)[member];
  return { [member]: [...list, ...(Array.isArray(cards) ? (cards as unknown[]) : [])] };
}

/** Removes the genre `None`, which is only listed to keep a catalog off the home page, and means all genres. */
function extraOf({ extra }: ResourceRequest, change: CatalogModification | undefined): ResourceRequest['extra'] {
  if (extra['genre'] !== 'None' || change?.onlyOnDiscover !== true) return extra;
  const { genre: _genre, ...rest } = extra;
  return rest;
}

function unionOf(
  { id, type, resource }: ResourceRequest,
  { mergedCatalogs }: AddonConfig,
  addons: readonly Reachable[],
): CatalogUnion | undefined {
  if (resource !== 'catalog' || !mergedCatalogs?.some((one) => one.id === id)) return undefined;
  const sources = addons.map(({ addon: { instanceId }, manifest }) => ({ instanceId, manifest }));
  return unionsOf(listCatalogs(sources, 'catalogs'), mergedCatalogs).find(
    ({ definition }) => definition.id === id && definition.type === type,
  );
}

interface Found {
  readonly entries: readonly Entry[];
  readonly errors: readonly ShownError[];
}

async function ofOne(upstream: Upstream, request: ResourceRequest, addons: readonly Reachable[]): Promise<Found> {
  const at = request.id.indexOf('.');
  const instanceId = at === -1 ? request.id : request.id.slice(0, at);
  const found = addons.find(({ addon }) => addon.instanceId === instanceId);
  if (found === undefined) {
    const title = request.id.startsWith(mergedPrefix) ? 'Merged catalog not found' : `Addon ${instanceId} not found`;
    return {
      entries: [],
      errors: [{ title, sentence: 'Its catalog is not there any more. Install this addon anew.' }],
    };
  }
  return await page(upstream, found, { ...request, id: request.id.slice(at + 1) });
}

async function page(upstream: Upstream, { addon }: Reachable, request: ResourceRequest): Promise<Found> {
  try {
    const body = await upstream.resource(addon, request, catalogMs);
    const list: unknown = body[request.resource === 'catalog' ? 'metas' : 'addons'];
    const entries = Array.isArray(list)
      ? list.filter((item: unknown): item is Entry => typeof item === 'object' && item !== null)
      : [];
    return { entries, errors: [] };
  } catch (error) {
    const { message } = explainUpstream(error, addon.name, catalogMs);
    return { entries: [], errors: [{ title: addon.name, sentence: message }] };
  }
}

/**
 * Returns one page of a merged catalog. Addons have different page lengths, so the list is built from the beginning
 * each time. Former pages of the addons are cached.
 */
async function ofSeveral(
  upstream: Upstream,
  request: ResourceRequest,
  addons: readonly Reachable[],
  { definition, parts }: CatalogUnion,
): Promise<Found> {
  const skip = Math.max(0, Number(request.extra['skip'] ?? 0) || 0);
  const { skip: _skip, ...extra } = request.extra;
  const sources = parts.flatMap((part) => {
    const at = part.id.indexOf('.');
    const addon = addons.find(({ addon: { instanceId } }) => instanceId === part.id.slice(0, at));
    if (addon === undefined || !takesExtra(part, extra)) return [];
    const pages = part.extra?.some(({ name }) => name === 'skip') === true;
    return [{ addon, id: part.id.slice(at + 1), type: part.type, pages, seen: 0, ended: false }];
  });
  const known = new Set<string>();
  const entries: Entry[] = [];
  const errors: ShownError[] = [];
  const together = (definition.mergeMethod ?? 'sequential') !== 'sequential';
  for (let round = 0; round < mostRounds && entries.length < skip + pageLength; round += 1) {
    const open = sources.filter(({ ended }) => !ended);
    const turn = together ? open : open.slice(0, 1);
    if (turn.length === 0) break;
    const pages = await Promise.all(
      turn.map(async (source) => {
        const at = source.seen === 0 ? {} : { skip: String(source.seen) };
        const asked = { ...request, type: source.type, id: source.id, extra: { ...extra, ...at } };
        const found = await page(upstream, source.addon, asked);
        source.seen += found.entries.length;
        source.ended = found.entries.length === 0 || !source.pages;
        errors.push(...found.errors);
        return found.entries;
      }),
    );
    entries.push(...mergeEntries(pages, definition, known));
  }
  return { entries: entries.slice(skip, skip + pageLength), errors: skip === 0 ? errors : [] };
}

function isShuffled(change: CatalogModification | undefined, { extra, resource }: ResourceRequest): boolean {
  return resource === 'catalog' && change?.shuffle === true && extra['search'] === undefined;
}

function seedOf(
  change: CatalogModification | undefined,
  { id, type, extra }: ResourceRequest,
  { now, luck }: CatalogParts,
): string {
  const hours = change?.persistShuffleFor ?? 0;
  return hours > 0 ? [type, id, JSON.stringify(extra), Math.floor(now / (hours * hour))].join(' ') : luck;
}

/** Returns true for entries whose age rating the configuration excludes. Most catalogs contain no rating. */
function isKeptAway(item: unknown, config: AddonConfig, resource: string): boolean {
  if (resource !== 'catalog' || !looksAtRating(config)) return false;
  const rating = ratingOf(item);
  const says = rating.certifications.length > 0 || rating.nudity !== undefined;
  return says && ratingProblem(rating, config) !== undefined;
}
