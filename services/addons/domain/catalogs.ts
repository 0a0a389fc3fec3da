import type { CatalogModification, MergedCatalog } from './config-catalogs.ts';
import type { CatalogExtra, ManifestCatalog, MergedSource } from './manifest.ts';

/** Prefix of the IDs of merged catalogs. Other tools use the same prefix. */
export const mergedPrefix = 'aiostreams.merged.';

/** Merged catalog with its sources. */
export interface MergedCatalogSources {
  readonly definition: MergedCatalog;
  readonly sources: readonly ManifestCatalog[];
}

/**
 * Combines the catalogs of several addons, with the instance ID of the addon as prefix of each ID. Applies the merged
 * catalogs, names and order of the configuration.
 *
 * @param options.newHidden Hides catalogs that have no position in the configuration.
 */
export function mergeCatalogs(
  sources: readonly MergedSource[],
  modifications: readonly CatalogModification[] = [],
  merged: readonly MergedCatalog[] = [],
  { newHidden = false }: { readonly newHidden?: boolean } = {},
): readonly ManifestCatalog[] {
  const all = listCatalogs(sources, 'catalogs');
  const mergedCatalogs = buildMergedCatalogs(all, merged);
  const mergedKeys = new Set(mergedCatalogs.flatMap(({ sources }) => sources.map(getCatalogKey)));
  const listed = [
    ...mergedCatalogs.map(toCatalog),
    ...all.filter((catalog) => !mergedKeys.has(getCatalogKey(catalog))),
  ];
  const positions = new Map(modifications.map((modification, position) => [getCatalogKey(modification), position]));
  const getPosition = (catalog: ManifestCatalog): number => positions.get(getCatalogKey(catalog)) ?? Infinity;
  const sorted = listed
    .map((catalog) => ({ catalog, position: getPosition(catalog) }))
    .toSorted((a, b) => (a.position === b.position ? 0 : a.position - b.position));
  return sorted.flatMap(({ catalog, position }) => {
    const modification = modifications[position];
    if (modification !== undefined) return applyModification(catalog, modification);
    return newHidden && modifications.length > 0 ? [] : [catalog];
  });
}

/** Lists the catalogs of all addons without duplicates. */
export function listCatalogs(
  sources: readonly MergedSource[],
  property: 'catalogs' | 'addonCatalogs',
): readonly ManifestCatalog[] {
  const all = sources.flatMap(({ instanceId, manifest }) =>
    manifest[property].map((catalog) => ({ ...catalog, id: `${instanceId}.${catalog.id}` })),
  );
  return [...new Map(all.map((catalog) => [getCatalogKey(catalog), catalog])).values()];
}

/** Returns the enabled merged catalogs with their existing sources. */
export function buildMergedCatalogs(
  all: readonly ManifestCatalog[],
  merged: readonly MergedCatalog[],
): readonly MergedCatalogSources[] {
  const catalogsByKey = new Map(all.map((catalog) => [getCatalogKey(catalog), catalog]));
  return merged.flatMap((definition) => {
    if (definition.enabled === false) return [];
    const sources = definition.catalogIds.flatMap((text) => {
      const query = new URLSearchParams(text);
      return catalogsByKey.get(getCatalogKey({ id: query.get('id') ?? '', type: query.get('type') ?? '' })) ?? [];
    });
    return sources.length === 0 ? [] : [{ definition, sources }];
  });
}

/** Returns true when a catalog supports all given extras and has all it requires. */
export function supportsExtra(
  { extra = [] }: ManifestCatalog,
  requestedExtra: Readonly<Record<string, string>>,
): boolean {
  const extrasByName = new Map(extra.map((entry) => [entry.name, entry]));
  const names = Object.keys(requestedExtra).filter((name) => name !== 'skip');
  if (!extra.every(({ name, isRequired }) => isRequired !== true || requestedExtra[name] !== undefined)) return false;
  return names.every((name) => {
    const options = extrasByName.get(name)?.options;
    return extrasByName.has(name) && (options === undefined || options.includes(requestedExtra[name] ?? ''));
  });
}

function toCatalog({ definition, sources }: MergedCatalogSources): ManifestCatalog {
  const names = [...new Set(sources.flatMap(({ extra = [] }) => extra.map(({ name }) => name)))];
  const extra = names.map((name): CatalogExtra => {
    const matchingExtras = sources.map((part) => part.extra?.find((extraEntry) => extraEntry.name === name));
    const options = [...new Set(matchingExtras.flatMap((extraEntry) => extraEntry?.options ?? []))];
    return {
      name,
      ...(matchingExtras.every((extraEntry) => extraEntry?.isRequired === true) ? { isRequired: true } : {}),
      ...(options.length === 0 ? {} : { options }),
    };
  });
  return { id: definition.id, type: definition.type, name: definition.name, extra };
}

function applyModification(catalog: ManifestCatalog, modification: CatalogModification): ManifestCatalog[] {
  if (modification.enabled === false) return [];
  let extra = catalog.extra;
  if (modification.disableSearch === true) {
    if (extra?.some(({ name, isRequired }) => name === 'search' && isRequired === true) === true) return [];
    extra = extra?.filter(({ name }) => name !== 'search');
  }
  if (modification.onlyOnDiscover === true) {
    const genre = extra?.find(({ name }) => name === 'genre');
    const options = [...(genre?.options ?? []), ...(genre?.isRequired === true ? [] : ['None'])];
    extra = [...(extra ?? []).filter(({ name }) => name !== 'genre'), { name: 'genre', isRequired: true, options }];
  } else if (modification.onlyOnSearch === true && extra?.some(({ name }) => name === 'search') === true) {
    extra = extra.map((extraEntry) =>
      extraEntry.name === 'search' ? { ...extraEntry, isRequired: true } : extraEntry,
    );
  }
  return [
    {
      ...catalog,
      ...(typeof modification.name === 'string' && modification.name !== '' ? { name: modification.name } : {}),
      ...(typeof modification.overrideType === 'string' && modification.overrideType !== ''
        ? { type: modification.overrideType }
        : {}),
      ...(extra === undefined ? {} : { extra }),
    },
  ];
}

function getCatalogKey({ id, type }: Pick<ManifestCatalog, 'id' | 'type'>): string {
  return `${type}\n${id}`;
}
