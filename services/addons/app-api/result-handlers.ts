import { addonsApi } from '../../contracts/addons/api.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import type { RequestContext } from '../aggregate/request-context.ts';
import { explainPosition } from '../aggregate/sort-explanation.ts';
import { toClientStream } from '../domain/pipeline/output.ts';
import { readConfig } from '../domain/read-config.ts';
import { findRuleProblems } from '../domain/rule-problems.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { RouteDependencies } from '../stremio-api/route-dependencies.ts';
import { listConfigurationCatalogs } from '../stremio-api/search.ts';
import { isAdministrator } from './permissions.ts';
import { describeRemoval } from './removal-description.ts';

const maxPreviewedStreams = 200;

/** Builds the handlers that show what a configuration that is being edited results in. */
export function createResultHandlers(dependencies: RouteDependencies): readonly ApiHandler[] {
  return [
    implement(addonsApi.preview, ({ body, identity }) =>
      previewStreams(dependencies, body, !isAdministrator(identity)),
    ),
    implement(addonsApi.catalogs, async ({ body, identity }) => {
      const catalogs = await listConfigurationCatalogs(dependencies, {
        config: readConfig(body.config),
        uuid: undefined,
        addressMarkers: [],
        baseUrl: getBaseUrl(dependencies),
        publicOnly: !isAdministrator(identity),
      });
      return {
        catalogs: catalogs.map(({ id, type, name, addonName }) => ({ id, type, name: name ?? id, addon: addonName })),
      };
    }),
    implement(addonsApi.rules, ({ body }) => ({ problems: [...findRuleProblems(readConfig(body.config))] })),
  ];
}

async function previewStreams(
  dependencies: RouteDependencies,
  body: { readonly config: unknown; readonly type: string; readonly id: string },
  publicOnly: boolean,
) {
  const { settings } = dependencies;
  const { aggregator } = dependencies.catalog;
  const config = readConfig(body.config);
  const baseUrl = getBaseUrl(dependencies);
  const requestContext: RequestContext = {
    config,
    baseUrl,
    uuid: undefined,
    addressMarkers: [],
    revision: 'preview',
    configureUrl: `${baseUrl}/stremio/configure`,
    withData: false,
    trusted: true,
    proxy: (result) => result,
    publicOnly,
  };
  const searchResult = await aggregator.search(requestContext, {
    resource: 'stream',
    type: body.type,
    id: body.id,
    extra: {},
  });
  const output = {
    config,
    addonId: settings.addonId,
    addonName: config.addonName || settings.addonName,
    withData: false,
    formatter: aggregator.getFormatter(config),
    context: searchResult.formatContext,
  };
  const formatStream = (stream: ParsedStream): { name: string; description: string; addon: string } => {
    const { name, description } = toClientStream(stream, output);
    return { name: String(name), description: String(description), addon: stream.addon.name };
  };
  return {
    shown: searchResult.visible
      .slice(0, maxPreviewedStreams)
      .map((stream) => ({ ...formatStream(stream), why: explainPosition(stream, config) })),
    hidden: searchResult.hidden.slice(0, maxPreviewedStreams).map(({ stream, removal }) => ({
      ...formatStream(stream),
      why: removal === undefined ? '' : describeRemoval(removal),
    })),
    errors: [...searchResult.errors],
  };
}

/** Returns the address of the service in links of results that no player requests. */
function getBaseUrl({ context, settings }: RouteDependencies): string {
  return settings.baseUrl || context.address('addons') || 'http://127.0.0.1';
}
