import { readText } from '../../contracts/text.ts';
import type { AddonReport } from './gather-streams.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { FilterResult } from '../domain/pipeline/pipeline.ts';

export interface StatisticsInput {
  readonly reports: readonly AddonReport[];
  readonly hidden: readonly FilterResult[];
  /** Number of visible streams. */
  readonly visibleCount: number;
  readonly durationMs: number;
}

const maxValues = 15;

/**
 * Builds the stream entries that show the results of the addons and the reasons of removals, if the configuration
 * enables them.
 */
export function buildStatisticsItems(
  { reports, hidden, visibleCount, durationMs }: StatisticsInput,
  statistics: AddonConfig['statistics'],
  link: string,
): readonly Record<string, unknown>[] {
  const enabledStatistics = new Set(getEnabledStatistics(statistics));
  if (visibleCount === 0 && statistics?.showFilterStatsOnNoStreams === true) enabledStatistics.add('filter');
  const items: Record<string, unknown>[] = [];
  const addItem = (name: string, description: string): void => {
    items.push({ name, description, externalUrl: link, streamData: { type: 'statistic' } });
  };
  if (enabledStatistics.has('addon'))
    for (const { addon, count, ms, sentence } of reports)
      addItem(
        `${sentence === undefined ? '🟢' : '🔴'} [${addon}] Scrape Summary`,
        [
          `✔ Status      : ${sentence === undefined ? 'SUCCESS' : 'FAILED'}`,
          `📦 Streams    : ${String(count)}`,
          `📋 Details    : ${sentence === undefined ? 'Successfully fetched streams.' : readText(sentence)}`,
          `⏱️ Time       : ${ms.toFixed(2)}ms`,
          '',
        ].join('\n'),
      );
  if (enabledStatistics.has('filter') && hidden.length > 0) addItem('🔍 Removal Reasons', formatRemovals(hidden));
  if (enabledStatistics.has('timing')) addItem('⏱️ Timing', `⏱️ Total      : ${durationMs.toFixed(2)}ms`);
  return items;
}

function getEnabledStatistics(statistics: AddonConfig['statistics']): readonly string[] {
  if (statistics?.enabled !== true) return [];
  return statistics.statsToShow?.length ? statistics.statsToShow : ['addon', 'filter'];
}

function formatRemovals(hidden: readonly FilterResult[]): string {
  const byRule = Map.groupBy(hidden, ({ removal }) => removal?.rule ?? '');
  return [...byRule]
    .map(([rule, verdicts]) => {
      const byValue = Map.groupBy(verdicts, ({ removal }) => removal?.value ?? '');
      const values = [...byValue].slice(0, maxValues).map(([value, list]) => `    • ${String(list.length)}× ${value}`);
      return [`📌 ${rule} (${String(verdicts.length)})`, ...values].join('\n');
    })
    .join('\n');
}
