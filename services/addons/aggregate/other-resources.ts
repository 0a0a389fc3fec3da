import { Problem } from '../../contracts/problem.ts';
import { handles } from '../domain/manifest.ts';
import { withPosters } from '../domain/posters.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import { explainUpstream } from '../upstream/upstream-failure.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { errorBody, type ShownError } from './error-items.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { Reached } from './gather-streams.ts';

/** Maximum duration of a metadata request. */
const metaMs = 30_000;

type Reachable = Reached['addons'][number];
/** Configuration of a request for other resources than streams. */
export interface ResourceAsker {
  readonly config: AddonConfig;
  readonly configureUrl: string;
}

/**
 * Returns the metadata of a title from the first addon that has it. Addons that list the ID prefix precede addons
 * without a list.
 */
export async function answerMeta(
  upstream: Upstream,
  asker: ResourceAsker,
  request: ResourceRequest,
  addons: readonly Reachable[],
): Promise<Record<string, unknown>> {
  const { type, id } = request;
  const able = addons.filter(({ manifest }) => handles(manifest, 'meta', type, id));
  const naming = able.filter(({ manifest }) =>
    manifest.resources.some(
      ({ name, idPrefixes }) => name === 'meta' && idPrefixes?.some((prefix) => id.startsWith(prefix)) === true,
    ),
  );
  const errors: ShownError[] = [];
  for (const { addon } of [...naming, ...able.filter((one) => !naming.includes(one))]) {
    try {
      const { meta } = await upstream.resource(addon, request, metaMs);
      if (typeof meta === 'object' && meta !== null) return { meta: shownMeta(meta, type, asker.config) };
    } catch (error) {
      errors.push({ title: addon.name, sentence: explainUpstream(error, addon.name, metaMs).message });
    }
  }
  if (able.length === 0) throw new Problem('addons.no_meta', 404, 'no addon to handle meta resource');
  if (errors.length === 0 || isHidden(asker.config, 'meta'))
    throw new Problem('addons.no_meta', 404, 'no addon knows this');
  return errorBody('meta', type, errors, asker.configureUrl);
}

function shownMeta(meta: object, type: string, config: AddonConfig): object {
  if (config.usePosterServiceForMeta !== true) return meta;
  return withPosters([{ ...meta }], type, config)[0] ?? meta;
}

/** Returns the subtitles of all addons. */
export async function answerSubtitles(
  upstream: Upstream,
  asker: ResourceAsker,
  request: ResourceRequest,
  addons: readonly Reachable[],
): Promise<Record<string, unknown>> {
  const { type, id } = request;
  const able = addons.filter(({ manifest }) => handles(manifest, 'subtitles', type, id));
  const parts = await Promise.all(
    able.map(async ({ addon }) => {
      try {
        const { subtitles } = await upstream.resource(addon, request, addon.timeoutMs);
        return Array.isArray(subtitles)
          ? subtitles.filter((item: unknown) => typeof item === 'object' && item !== null)
          : [];
      } catch (error) {
        if (isHidden(asker.config, 'subtitles')) return [];
        const { message } = explainUpstream(error, addon.name, addon.timeoutMs);
        return errorBody('subtitles', type, [{ title: addon.name, sentence: message }], asker.configureUrl)[
          'subtitles'
        ];
      }
    }),
  );
  return { subtitles: parts.flat() };
}

/** Returns true when a configuration hides errors of a resource. */
export function isHidden({ hideErrors, hideErrorsForResources }: AddonConfig, resource: string): boolean {
  return hideErrors === true || hideErrorsForResources?.includes(resource) === true;
}
