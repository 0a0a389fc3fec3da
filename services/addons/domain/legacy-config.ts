import { toRecord, isRecord } from '../../contracts/is-record.ts';

type ConfigFields = Record<string, unknown>;

/** Converts the fields of older versions of AIOStreams to the current ones. The input is not changed. */
export function convertLegacyConfig(config: ConfigFields): ConfigFields {
  const converted: ConfigFields = { ...config };
  for (const convert of conversions) convert(converted);
  return converted;
}

const duplicateModes: Readonly<Record<string, string>> = {
  remove_uncached: 'aggressive',
  remove_uncached_same_service: 'conservative',
  remove_nothing: 'keep_all',
};
const visualEncodes = new Set(['H-OU', 'H-SBS']);
const expressionLists = ['excluded', 'included', 'required', 'preferred', 'ranked'].map(
  (verb) => `${verb}StreamExpressions`,
);

const conversions: readonly ((config: ConfigFields) => void)[] = [
  function convertDeduplicator(config) {
    const { deduplicator } = config;
    if (!isRecord(deduplicator) || typeof deduplicator['multiGroupBehaviour'] !== 'string') return;
    const mode = duplicateModes[deduplicator['multiGroupBehaviour']];
    if (mode !== undefined) config['deduplicator'] = { ...deduplicator, multiGroupBehaviour: mode };
  },

  function convertGroups(config) {
    if (!Array.isArray(config['groups'])) return;
    config['groups'] = {
      enabled: config['disableGroups'] !== true,
      groupings: config['groups'],
      behaviour: 'parallel',
    };
    delete config['disableGroups'];
  },

  function convertStatistics(config) {
    const { showStatistics, statisticsPosition, statistics } = config;
    delete config['showStatistics'];
    delete config['statisticsPosition'];
    if (typeof showStatistics !== 'boolean' && statisticsPosition === undefined) return;
    config['statistics'] = {
      enabled: showStatistics === true,
      position: statisticsPosition === 'top' ? 'top' : 'bottom',
      ...toRecord(statistics),
    };
  },

  function moveVisualEncodes(config) {
    for (const verb of ['excluded', 'included', 'required', 'preferred']) {
      const encodes: unknown = config[`${verb}Encodes`];
      if (!Array.isArray(encodes)) continue;
      const moved = encodes.filter((encode) => visualEncodes.has(encode as string)) as unknown[];
      if (moved.length === 0) continue;
      const tags = config[`${verb}VisualTags`];
      config[`${verb}Encodes`] = encodes.filter((encode) => !visualEncodes.has(encode as string));
      config[`${verb}VisualTags`] = [...new Set([...(Array.isArray(tags) ? (tags as unknown[]) : []), ...moved])];
    }
  },

  function convertFailover(config) {
    const { failover, nzbFailover } = config;
    delete config['nzbFailover'];
    if (failover === undefined && isRecord(nzbFailover)) {
      const { enabled, count } = nzbFailover;
      config['failover'] = {
        enabled,
        ...(count === undefined ? {} : { maxAttempts: count }),
        contentTypes: ['usenet'],
      };
    } else if (isRecord(failover) && failover['count'] !== undefined) {
      const { count, ...rest } = failover;
      config['failover'] = { maxAttempts: count, ...rest };
    }
  },

  function convertPosters(config) {
    const { rpdbUseRedirectApi, usePosterRedirectApi, catalogModifications } = config;
    if (rpdbUseRedirectApi !== undefined && usePosterRedirectApi === undefined)
      config['usePosterRedirectApi'] = rpdbUseRedirectApi;
    delete config['rpdbUseRedirectApi'];
    if (!Array.isArray(catalogModifications)) return;
    config['catalogModifications'] = catalogModifications.map((modification: unknown) => {
      if (!isRecord(modification) || !Object.hasOwn(modification, 'rpdb')) return modification;
      const { rpdb, ...rest } = modification;
      return { ...(rpdb === true ? { usePosterService: true } : {}), ...rest };
    });
  },

  function convertAccess(config) {
    if (config['accessToken'] === undefined) return;
    config['accessKey'] ??= config['accessToken'];
    delete config['accessToken'];
  },

  function convertAnimeExpressions(config) {
    for (const name of expressionLists) {
      const list: unknown = config[name];
      if (Array.isArray(list)) config[name] = list.map(convertAnimeExpression);
    }
    const { dynamicAddonFetching, groups } = config;
    if (isRecord(dynamicAddonFetching)) config['dynamicAddonFetching'] = convertCondition(dynamicAddonFetching);
    if (isRecord(groups) && Array.isArray(groups['groupings']))
      config['groups'] = { ...groups, groupings: groups['groupings'].map(convertCondition) };
  },
];

function convertAnimeExpression(expression: unknown): unknown {
  if (typeof expression === 'string') return replaceAnimeType(expression);
  if (!isRecord(expression) || typeof expression['expression'] !== 'string') return expression;
  return { ...expression, expression: replaceAnimeType(expression['expression']) };
}

function convertCondition(holder: unknown): unknown {
  if (!isRecord(holder) || typeof holder['condition'] !== 'string') return holder;
  return { ...holder, condition: replaceAnimeType(holder['condition']) };
}

/** Replaces the query type `anime`, which AIOStreams divided into `anime.series` and `anime.movie`. */
function replaceAnimeType(expression: string): string {
  return expression.replaceAll(
    /queryType\s*(==|!=)\s*(["'])anime\2|(["'])anime\3\s*(==|!=)\s*queryType/g,
    (_, after: string | undefined, _quote, _other, before: string | undefined) => {
      const operator = after ?? before ?? '==';
      const conjunction = operator === '==' ? 'or' : 'and';
      return `(queryType ${operator} 'anime.series' ${conjunction} queryType ${operator} 'anime.movie')`;
    },
  );
}
