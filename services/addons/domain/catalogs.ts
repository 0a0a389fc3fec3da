import type { CatalogModification, MergedCatalog } from './config-catalogs.ts';
import type { CatalogExtra, ManifestCatalog, MergedSource } from './manifest.ts';

/** Prefix of the IDs of merged catalogs. Other tools use the same prefix. */
export const mergedPrefix = 'aiostreams.merged.';

/** Merged catalog with its sources. */
export interface CatalogUnion {
  readonly definition: MergedCatalog;
  readonly parts: readonly ManifestCatalog[];
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
  const unions = unionsOf(all, merged);
  const consumed = new Set(unions.flatMap(({ parts }) => parts.map(keyOf)));
  const listed = [...unions.map(asCatalog), ...all.filter((catalog) => !consumed.has(keyOf(catalog)))];
  const places = new Map(modifications.map((change, place) => [keyOf(change), place]));
  const placeOf = (catalog: ManifestCatalog): number => places.get(keyOf(catalog)) ?? Infinity;
  const sorted = listed
    .map((catalog) => ({ catalog, place: placeOf(catalog) }))
    .toSorted((one, other) => (one.place === other.place ? 0 : one.place - other.place));
  return sorted.flatMap(({ catalog, place }) => {
    const change = modifications[place];
    if (change !== undefined) return modified(catalog, change);
    return newHidden && modifications.length > 0 ? [] : [catalog];
  });
}

/** Lists the catalogs of all addons without duplicates. */
export function listCatalogs(
  sources: readonly MergedSource[],
  which: 'catalogs' | 'addonCatalogs',
): readonly ManifestCatalog[] {
  const all = sources.flatMap(({ instanceId, manifest }) =>
    manifest[which].map((catalog) => ({ ...catalog, id: `${instanceId}.${catalog.id}` })),
  );
  return [...new Map(all.map((catalog) => [keyOf(catalog), catalog])).values()];
}

/** Returns the enabled merged catalogs with their existing sources. */
export function unionsOf(all: readonly ManifestCatalog[], merged: readonly MergedCatalog[]): readonly CatalogUnion[] {
  const known = new Map(all.map((catalog) => [keyOf(catalog), catalog]));
  return merged.flatMap((definition) => {
    if (definition.enabled === false) return [];
    const parts = definition.catalogIds.flatMap((text) => {
      const query = new URLSearchParams(text);
      return known.get(keyOf({ id: query.get('id') ?? '', type: query.get('type') ?? '' })) ?? [];
    });
    return parts.length === 0 ? [] : [{ definition, parts }];
  });
}

/** Returns true when a catalog supports all given extras and has all it requires. */
export function takesExtra({ extra = [] }: ManifestCatalog, given: Readonly<Record<string, string>>): boolean {
  const known = new Map(extra.map((one) => [one.name, one]));
  const names = Object.keys(given).filter((name) => name !== 'skip');
  if (!extra.every(({ name, isRequired }) => isRequired !== true || given[name] !== undefined)) return false;
  return names.every((name) => {
    const options = known.get(name)?.options;
    return known.has(name) && (options === undefined || options.includes(given[name] ?? ''));
  });
}

function asCatalog({ definition, parts }: CatalogUnion): ManifestCatalog {
  const names = [...new Set(parts.flatMap(({ extra = [] }) => extra.map(({ name }) => name)))];
  const extra = names.map((name): CatalogExtra => {
    const found = parts.map((part) => part.extra?.find((one) => one.name === name));
    const options = [...new Set(found.flatMap((one) => one?.options ?? []))];
    return {
      name,
      ...(found.every((one) => one?.isRequired === true) ? { isRequired: true } : {}),
      ...(options.length === 0 ? {} : { options }),
    };
  });
  return { id: definition.id, type: definition.type, name: definition.name, extra };
}

function modified(catalog: ManifestCatalog, change: CatalogModification): ManifestCatalog[] {
  if (change.enabled === false) return [];
  let extra = catalog.extra;
  if (change.disableSearch === true) {
    if (extra?.some(({ name, isRequired }) => name === 'search' && isRequired === true) === true) return [];
    extra = extra?.filter(({ name }) => name !== 'search');
  }
  if (change.onlyOnDiscover === true) {
    const genre = extra?.find(({ name }) => name === 'genre');
    const options = [...(genre?.options ?? []), ...(genre?.isRequired === true ? [] : ['None'])];
    extra = [...(extra ?? []).filter(({ name }) => name !== 'genre'), { name: 'genre', isRequired: true, options }];
  } else if (change.onlyOnSearch === true && extra?.some(({ name }) => name === 'search') === true) {
    extra = extra.map((one) => (one.name === 'search' ? { ...one, isRequired: true } : one));
  }
  return [
    {
      ...catalog,
      ...(typeof change.name === 'string' && change.name !== '' ? { name: change.name } : {}),
      ...(typeof change.overrideType === 'string' && change.overrideType !== '' ? { type: change.overrideType } : {}),
      ...(extra === undefined ? {} : { extra }),
    },
  ];
}

function keyOf({ id, type }: Pick<ManifestCatalog, 'id' | 'type'>): string {
  return `${type}\n${id}`;
}
