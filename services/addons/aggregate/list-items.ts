import type { FormatContext } from '../domain/format/values.ts';
import type { Formatter } from '../domain/format/predefined.ts';
import { toClientStream, toDownloadItems } from '../domain/pipeline/output.ts';
import type { PipelineResult } from '../domain/pipeline/pipeline.ts';
import { buildErrorStream, type ErrorItem } from './error-items.ts';
import type { GatheredStreams } from './gather-streams.ts';
import { hidesErrors } from './other-resources.ts';
import type { RequestContext } from './request-context.ts';
import { buildStatisticsItems } from './statistics-items.ts';

/** Streams of all addons for one title, after the pipeline. */
export interface SearchResult extends PipelineResult {
  /** Values for formats that do not depend on the stream. */
  readonly formatContext: FormatContext;
  readonly gatheredStreams: GatheredStreams;
  readonly errors: readonly ErrorItem[];
}

interface ListOptions {
  readonly addonId: string;
  readonly addonName: string;
  readonly formatter: Formatter;
  /** Duration of the search. */
  readonly durationMs: number;
}

/** Builds the items of a stream list as clients receive them: streams, errors and statistics. */
export function buildListItems(
  result: SearchResult,
  { config, configureUrl, withData }: Pick<RequestContext, 'config' | 'configureUrl' | 'withData'>,
  { addonId, addonName, formatter, durationMs }: ListOptions,
): { readonly streams: readonly object[]; readonly hasStatistics: boolean } {
  const { errors, formatContext, gatheredStreams, hidden, visible } = result;
  const output = { config, addonId, addonName, formatter, withData, context: formatContext };
  const streamItems = visible.flatMap((stream) => [
    toClientStream(stream, output),
    ...(config.externalDownloads === true ? toDownloadItems(stream, output) : []),
  ]);
  const errorItems = hidesErrors(config, 'stream') ? [] : errors.map((error) => buildErrorStream(error, configureUrl));
  const { reports } = gatheredStreams;
  const counts = { reports, hidden, visibleCount: streamItems.length, durationMs };
  const statisticsItems = buildStatisticsItems(counts, config.statistics, configureUrl);
  const isTop = config.statistics?.position === 'top';
  return {
    streams: [...(isTop ? statisticsItems : []), ...streamItems, ...errorItems, ...(isTop ? [] : statisticsItems)],
    hasStatistics: statisticsItems.length > 0,
  };
}
