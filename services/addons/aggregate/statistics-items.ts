import type { AddonReport } from './gather-streams.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { Verdict } from '../domain/pipeline/pipeline.ts';

export interface StatisticsInput {
  readonly reports: readonly AddonReport[];
  readonly hidden: readonly Verdict[];
  /** Number of visible streams. */
  readonly shown: number;
  readonly tookMs: number;
}

const mostValues = 15;

/**
 * Builds the stream entries that show the results of the addons and the reasons of removals, if the configuration
 * enables them.
 */
export function statisticItems(
  { reports, hidden, shown: left, tookMs }: StatisticsInput,
  statistics: AddonConfig['statistics'],
  link: string,
): readonly Record<string, unknown>[] {
  const shown = new Set(wantedOf(statistics));
  if (left === 0 && statistics?.showFilterStatsOnNoStreams === true) shown.add('filter');
  const items: Record<string, unknown>[] = [];
  const add = (name: string, description: string): void => {
    items.push({ name, description, externalUrl: link, streamData: { type: 'statistic' } });
  };
  if (shown.has('addon'))
    for (const { addon, count, ms, sentence } of reports)
      add(
        `${sentence === undefined ? '🟢' : '🔴'} [${addon}] Scrape Summary`,
        [
          `✔ Status      : ${sentence === undefined ? 'SUCCESS' : 'FAILED'}`,
          `📦 Streams    : ${String(count)}`,
          `📋 Details    : ${sentence ?? 'Successfully fetched streams.'}`,
          `⏱️ Time       : ${ms.toFixed(2)}ms`,
          '',
        ].join('\n'),
      );
  if (shown.has('filter') && hidden.length > 0) add('🔍 Removal Reasons', removalText(hidden));
  if (shown.has('timing')) add('⏱️ Timing', `⏱️ Total      : ${tookMs.toFixed(2)}ms`);
  return items;
}

function wantedOf(statistics: AddonConfig['statistics']): readonly string[] {
  if (statistics?.enabled !== true) return [];
  return statistics.statsToShow?.length ? statistics.statsToShow : ['addon', 'filter'];
}

function removalText(hidden: readonly Verdict[]): string {
  const byRule = Map.groupBy(hidden, ({ removal }) => removal?.rule ?? '');
  return [...byRule]
    .map(([rule, verdicts]) => {
      const byValue = Map.groupBy(verdicts, ({ removal }) => removal?.value ?? '');
      const values = [...byValue].slice(0, mostValues).map(([value, list]) => `    • ${String(list.length)}× ${value}`);
      return [`📌 ${rule} (${String(verdicts.length)})`, ...values].join('\n');
    })
    .join('\n');
}
