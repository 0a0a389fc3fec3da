import { listCatalogs, mergeCatalogs } from '../domain/catalogs.ts';
import type { AddonConfig } from '../domain/config.ts';
import { mergeResources } from '../domain/manifest.ts';
import type { Settings } from '../settings.ts';
import { addonVersion } from '../version.ts';
import type { RequestContext } from './request-context.ts';
import type { ReachableAddons } from './gather-streams.ts';

type ServiceIdentity = Pick<Settings, 'addonId' | 'addonName'>;

/** Builds the manifest of a configuration from the manifests of its addons. */
export function buildManifest(
  { config, uuid, revision, variants }: RequestContext,
  addons: ReachableAddons['addons'],
  settings: ServiceIdentity,
): Record<string, unknown> {
  const sources = addons.map(({ addon: { instanceId }, manifest }) => ({ instanceId, manifest }));
  const resources = mergeResources(sources);
  const { catalogModifications, mergedCatalogs, newCatalogsDisabled } = config;
  const catalogs = mergeCatalogs(sources, catalogModifications ?? [], mergedCatalogs ?? [], {
    newHidden: newCatalogsDisabled === true,
  });
  return {
    ...buildIdentity(config, settings),
    id: [settings.addonId, (uuid ?? revision).slice(0, 12), ...(variants?.split(',') ?? [])].join('.'),
    version: addonVersion,
    catalogs,
    // The resource `catalog` requires at least one catalog.
    resources: resources.filter(({ name }) => name !== 'catalog' || catalogs.length > 0),
    types: [...new Set([...resources.flatMap(({ types }) => types), ...catalogs.map(({ type }) => type)])],
    behaviorHints: { configurable: true, configurationRequired: false },
    addonCatalogs: listCatalogs(sources, 'addonCatalogs'),
  };
}

/** Builds the manifest of the service without a configuration. */
export function buildUnconfiguredManifest(settings: ServiceIdentity): Record<string, unknown> {
  return {
    ...buildIdentity(undefined, settings),
    id: settings.addonId,
    version: addonVersion,
    catalogs: [],
    resources: [],
    types: [],
    behaviorHints: { configurable: true, configurationRequired: true },
    addonCatalogs: [],
  };
}

function buildIdentity(config: AddonConfig | undefined, { addonName }: ServiceIdentity): Record<string, unknown> {
  return {
    name: config?.addonName || addonName,
    description: config?.addonDescription || 'Combines many addons into one and keeps your keys at home.',
    ...(config?.addonLogo ? { logo: config.addonLogo } : {}),
    ...(config?.addonBackground ? { background: config.addonBackground } : {}),
  };
}
