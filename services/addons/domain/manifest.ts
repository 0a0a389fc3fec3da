import { isRecord } from '../../contracts/is-record.ts';

/** Resource of a manifest in the long notation. */
export interface ManifestResource {
  readonly name: string;
  readonly types: readonly string[];
  /** Absent when the resource supports every ID. */
  readonly idPrefixes?: readonly string[];
}

export interface CatalogExtra {
  readonly name: string;
  readonly isRequired?: boolean;
  readonly options?: readonly string[];
  readonly optionsLimit?: number;
}

export interface ManifestCatalog {
  readonly type: string;
  readonly id: string;
  readonly name?: string;
  readonly extra?: readonly CatalogExtra[];
}

/** Parsed manifest of an addon. */
export interface UpstreamManifest {
  readonly id: string;
  readonly name: string;
  readonly resources: readonly ManifestResource[];
  readonly catalogs: readonly ManifestCatalog[];
  readonly addonCatalogs: readonly ManifestCatalog[];
}

/** Parses the manifest of an addon. Returns undefined for other values. */
export function parseManifest(value: unknown): UpstreamManifest | undefined {
  if (!isRecord(value)) return undefined;
  const { id, name } = value;
  if (typeof id !== 'string' || typeof name !== 'string' || !Array.isArray(value['resources'])) return undefined;
  const types = toStrings(value['types']);
  const prefixes = Array.isArray(value['idPrefixes']) ? toStrings(value['idPrefixes']) : undefined;
  const resources = value['resources'].flatMap((resource: unknown): ManifestResource[] => {
    if (typeof resource === 'string') return [withPrefixes({ name: resource, types }, prefixes)];
    if (!isRecord(resource) || typeof resource['name'] !== 'string') return [];
    const ownPrefixes = Array.isArray(resource['idPrefixes']) ? toStrings(resource['idPrefixes']) : undefined;
    const ownTypes = Array.isArray(resource['types']) ? toStrings(resource['types']) : types;
    return [withPrefixes({ name: resource['name'], types: ownTypes }, ownPrefixes)];
  });
  return {
    id,
    name,
    resources,
    catalogs: readCatalogs(value['catalogs']),
    addonCatalogs: readCatalogs(value['addonCatalogs']),
  };
}

function withPrefixes(resource: ManifestResource, idPrefixes: readonly string[] | undefined): ManifestResource {
  return idPrefixes === undefined || idPrefixes.length === 0 ? resource : { ...resource, idPrefixes };
}

function readCatalogs(value: unknown): readonly ManifestCatalog[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((catalog: unknown): ManifestCatalog[] => {
    if (!isRecord(catalog) || typeof catalog['id'] !== 'string' || typeof catalog['type'] !== 'string') return [];
    const extra = readExtra(catalog);
    return [
      {
        type: catalog['type'],
        id: catalog['id'],
        ...(typeof catalog['name'] === 'string' ? { name: catalog['name'] } : {}),
        ...(extra === undefined ? {} : { extra }),
      },
    ];
  });
}

/** Parses extras in the long notation, or in the short notation with `extraSupported` and `extraRequired`. */
function readExtra(catalog: Readonly<Record<string, unknown>>): readonly CatalogExtra[] | undefined {
  if (Array.isArray(catalog['extra'])) {
    return catalog['extra'].flatMap((extra: unknown): CatalogExtra[] => {
      if (!isRecord(extra) || typeof extra['name'] !== 'string') return [];
      return [
        {
          name: extra['name'],
          ...(extra['isRequired'] === true ? { isRequired: true } : {}),
          ...(Array.isArray(extra['options']) ? { options: toStrings(extra['options']) } : {}),
          ...(typeof extra['optionsLimit'] === 'number' ? { optionsLimit: extra['optionsLimit'] } : {}),
        },
      ];
    });
  }
  if (!Array.isArray(catalog['extraSupported'])) return undefined;
  const required = new Set(toStrings(catalog['extraRequired']));
  const genres = toStrings(catalog['genres']);
  return toStrings(catalog['extraSupported']).map((name) => ({
    name,
    ...(required.has(name) ? { isRequired: true } : {}),
    ...(name === 'genre' && genres.length > 0 ? { options: genres } : {}),
  }));
}

/** Returns true when an addon supports an ID. An addon without a list of prefixes supports every ID. */
export function supportsResource(manifest: UpstreamManifest, resource: string, type: string, id: string): boolean {
  return manifest.resources.some(
    ({ name, types, idPrefixes }) =>
      name === resource &&
      types.includes(type) &&
      (idPrefixes === undefined || idPrefixes.some((prefix) => id.startsWith(prefix))),
  );
}

/** Prefix of the IDs of error entries. */
export const errorPrefix = 'homeporterror';

/** Addon of a configuration with its manifest. */
export interface MergedSource {
  readonly instanceId: string;
  readonly manifest: UpstreamManifest;
}

/** Combines the resources of several addons. */
export function mergeResources(sources: readonly MergedSource[]): readonly ManifestResource[] {
  const merged = new Map<string, { types: string[]; idPrefixes: string[] | undefined }>();
  for (const { manifest } of sources) {
    for (const { name, types, idPrefixes } of manifest.resources) {
      const existing = merged.get(name);
      if (existing === undefined) {
        merged.set(name, { types: [...types], idPrefixes: idPrefixes === undefined ? undefined : [...idPrefixes] });
        continue;
      }
      existing.types.push(...types.filter((type) => !existing.types.includes(type)));
      if (idPrefixes === undefined) existing.idPrefixes = undefined;
      else existing.idPrefixes?.push(...idPrefixes.filter((prefix) => existing.idPrefixes?.includes(prefix) === false));
    }
  }
  return [...merged].map(([name, { types, idPrefixes }]) => {
    if (idPrefixes === undefined) return { name, types };
    return { name, types, idPrefixes: name === 'meta' ? [...idPrefixes, errorPrefix] : idPrefixes };
  });
}

function toStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
