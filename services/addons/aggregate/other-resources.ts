import { Problem } from '../../contracts/problem.ts';
import { supportsResource } from '../domain/manifest.ts';
import { addPosters } from '../domain/posters.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import { toUpstreamFailure } from '../upstream/upstream-failure.ts';
import type { UpstreamClient } from '../upstream/upstream.ts';
import { buildErrorBody, type ErrorItem } from './error-items.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { ReachableAddons } from './gather-streams.ts';

/** Maximum duration of a metadata request. */
const metaTimeoutMs = 30_000;

type ReachableAddon = ReachableAddons['addons'][number];
/** Configuration of a request for other resources than streams. */
export interface ResourceContext {
  readonly config: AddonConfig;
  readonly configureUrl: string;
}

/**
 * Returns the metadata of a title from the first addon that has it. Addons that list the ID prefix precede addons
 * without a list.
 */
export async function getMeta(
  upstream: UpstreamClient,
  resourceContext: ResourceContext,
  request: ResourceRequest,
  addons: readonly ReachableAddon[],
): Promise<Record<string, unknown>> {
  const { type, id } = request;
  const supportingAddons = addons.filter(({ manifest }) => supportsResource(manifest, 'meta', type, id));
  const prefixMatches = supportingAddons.filter(({ manifest }) =>
    manifest.resources.some(
      ({ name, idPrefixes }) => name === 'meta' && idPrefixes?.some((prefix) => id.startsWith(prefix)) === true,
    ),
  );
  const errors: ErrorItem[] = [];
  for (const { addon } of [
    ...prefixMatches,
    ...supportingAddons.filter((candidate) => !prefixMatches.includes(candidate)),
  ]) {
    try {
      const { meta } = await upstream.getResource(addon, request, metaTimeoutMs);
      if (typeof meta === 'object' && meta !== null) return { meta: withPoster(meta, type, resourceContext.config) };
    } catch (error) {
      errors.push({ title: addon.name, sentence: toUpstreamFailure(error, addon.name, metaTimeoutMs).sentence });
    }
  }
  if (supportingAddons.length === 0) throw new Problem('addons.no_meta', 404, 'no addon to handle meta resource');
  if (errors.length === 0 || hidesErrors(resourceContext.config, 'meta'))
    throw new Problem('addons.no_meta', 404, 'no addon knows this');
  return buildErrorBody('meta', type, errors, resourceContext.configureUrl);
}

function withPoster(meta: object, type: string, config: AddonConfig): object {
  if (config.usePosterServiceForMeta !== true) return meta;
  return addPosters([{ ...meta }], type, config)[0] ?? meta;
}

/** Returns the subtitles of all addons. */
export async function getSubtitles(
  upstream: UpstreamClient,
  resourceContext: ResourceContext,
  request: ResourceRequest,
  addons: readonly ReachableAddon[],
): Promise<Record<string, unknown>> {
  const { type, id } = request;
  const supportingAddons = addons.filter(({ manifest }) => supportsResource(manifest, 'subtitles', type, id));
  const subtitleLists = await Promise.all(
    supportingAddons.map(async ({ addon }) => {
      try {
        const { subtitles } = await upstream.getResource(addon, request, addon.timeoutMs);
        return Array.isArray(subtitles)
          ? subtitles.filter((item: unknown) => typeof item === 'object' && item !== null)
          : [];
      } catch (error) {
        if (hidesErrors(resourceContext.config, 'subtitles')) return [];
        const { sentence } = toUpstreamFailure(error, addon.name, addon.timeoutMs);
        return buildErrorBody('subtitles', type, [{ title: addon.name, sentence }], resourceContext.configureUrl)[
          'subtitles'
        ];
      }
    }),
  );
  return { subtitles: subtitleLists.flat() };
}

/** Returns true when a configuration hides errors of a resource. */
export function hidesErrors({ hideErrors, hideErrorsForResources }: AddonConfig, resource: string): boolean {
  return hideErrors === true || hideErrorsForResources?.includes(resource) === true;
}
