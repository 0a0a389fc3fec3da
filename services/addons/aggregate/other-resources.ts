import { Problem } from '../../contracts/problem.ts';
import { handles } from '../domain/manifest.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import { explainUpstream } from '../upstream/reasons.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { errorBody, type ShownError } from '../wire/error-items.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { Reached } from './gather.ts';

const catalogMs = 30_000;

type Reachable = Reached['addons'][number];
/** Whose configuration is asked. */
interface Asker {
  readonly config: AddonConfig;
  readonly configureUrl: string;
}

/** A catalog of one addon, whose id begins its own. */
export async function answerCatalog(
  upstream: Upstream,
  asker: Asker,
  request: ResourceRequest,
  addons: readonly Reachable[],
): Promise<Record<string, unknown>> {
  const at = request.id.indexOf('.');
  const instanceId = at === -1 ? request.id : request.id.slice(0, at);
  const found = addons.find(({ addon }) => addon.instanceId === instanceId);
  const hidden = isHidden(asker.config, 'catalog');
  if (found === undefined) {
    const error = {
      title: `Addon ${instanceId} not found`,
      sentence: 'Its catalog is not there any more. Install this addon anew.',
    };
    return hidden ? { metas: [] } : errorBody(request.resource, request.type, [error], asker.configureUrl);
  }
  const change = asker.config.catalogModifications?.find(
    ({ id, overrideType, type }) => id === request.id && (overrideType === request.type || type === request.type),
  );
  const type = change === undefined ? request.type : change.type;
  const { genre, ...extra } = request.extra;
  const asked = {
    ...request,
    type,
    id: request.id.slice(at + 1),
    extra: genre === undefined || (genre === 'None' && change?.onlyOnDiscover === true) ? extra : request.extra,
  };
  try {
    const body = await upstream.resource(found.addon, asked, catalogMs);
    const member = request.resource === 'catalog' ? 'metas' : 'addons';
    const list: readonly unknown[] = Array.isArray(body[member]) ? body[member] : [];
    const metas = list.filter((item) => typeof item === 'object' && item !== null);
    return { [member]: change?.reverse === true ? metas.toReversed() : metas };
  } catch (error) {
    const { message } = explainUpstream(error, found.addon.name, catalogMs);
    if (hidden) return { metas: [] };
    return errorBody(
      request.resource,
      request.type,
      [{ title: found.addon.name, sentence: message }],
      asker.configureUrl,
    );
  }
}

/** Those that name the id first, then those that take any; the first that knows it. */
export async function answerMeta(
  upstream: Upstream,
  asker: Asker,
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
      const { meta } = await upstream.resource(addon, request, catalogMs);
      if (typeof meta === 'object' && meta !== null) return { meta };
    } catch (error) {
      errors.push({ title: addon.name, sentence: explainUpstream(error, addon.name, catalogMs).message });
    }
  }
  if (able.length === 0) throw new Problem('addons.no_meta', 404, 'no addon to handle meta resource');
  if (errors.length === 0 || isHidden(asker.config, 'meta'))
    throw new Problem('addons.no_meta', 404, 'no addon knows this');
  return errorBody('meta', type, errors, asker.configureUrl);
}

/** What all addons have, one after the other. */
export async function answerSubtitles(
  upstream: Upstream,
  asker: Asker,
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

/** Whether a configuration wants no errors among these. */
export function isHidden({ hideErrors, hideErrorsForResources }: AddonConfig, resource: string): boolean {
  return hideErrors === true || hideErrorsForResources?.includes(resource) === true;
}
