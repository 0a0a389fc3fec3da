import type { AddonConfig } from '../config.ts';
import { buildVariables } from '../expression/variables.ts';
import { ExpressionRun } from '../expression/rules.ts';
import { createScope } from '../expression/value.ts';
import type { ParsedStream } from '../stream.ts';
import { deduplicate } from './deduplicate.ts';
import { compileFilter, type FilterInput, type PatternMatch } from './filter.ts';
import type { Removal } from '../removal.ts';
import { limitStreams, sortStreams } from './sort.ts';

/** Stream with the result of the pipeline. */
export interface FilterResult {
  readonly stream: ParsedStream;
  /** Undefined for visible streams. */
  readonly removal: Removal | undefined;
}

export interface PipelineResult {
  readonly visible: readonly ParsedStream[];
  readonly hidden: readonly FilterResult[];
  /** Messages about stream expressions that had no effect. */
  readonly problems: readonly string[];
}

type PipelineInput = Omit<FilterInput, 'included'>;

/** Filters, deduplicates, sorts and limits the streams of all addons. */
export function runPipeline(streams: readonly ParsedStream[], input: PipelineInput): PipelineResult {
  const { config, titleRequest, patterns } = input;
  const hidden: FilterResult[] = [];
  const expressions = new ExpressionRun(config, createScope(buildVariables(titleRequest, streams)));
  const filter = compileFilter({ ...input, included: expressions.getIncludedIds(streams) });
  const keptStreams: ParsedStream[] = [];
  for (const [index, stream] of streams.entries()) {
    const removal = filter(stream, index);
    if (removal === undefined) keptStreams.push(addPatternMatch(stream, patterns?.[index]));
    else hidden.push({ stream, removal });
  }
  const deduplicated = keptStreams.filter(({ id }) => !expressions.isExempt(id, 'dedup'));
  const uniqueStreams = new Set(deduplicate(deduplicated, config.deduplicator, { services: getServiceIds(config) }));
  const withoutDuplicates = keptStreams.filter(
    (stream) => uniqueStreams.has(stream) || expressions.isExempt(stream.id, 'dedup'),
  );
  recordRemovals(keptStreams, withoutDuplicates, hidden, {
    rule: 'Duplicate',
    value: 'another one is better',
    cause: 'duplicate',
  });
  const sorted = sortStreams(expressions.addScores(withoutDuplicates), config, titleRequest);
  const removals = expressions.getRemovals(sorted);
  const selectedStreams = sorted.filter(({ id, addon }) => addon.resultPassthrough || !removals.has(id));
  for (const stream of sorted) {
    const removal = removals.get(stream.id);
    if (removal !== undefined && !stream.addon.resultPassthrough) hidden.push({ stream, removal });
  }
  const listed = expressions.movePinned(selectedStreams);
  const visibleStreams = limitStreams(listed, config.resultLimits, ({ id }) => expressions.isExempt(id, 'limit'));
  recordRemovals(listed, visibleStreams, hidden, { rule: 'Result Limit', value: 'beyond the limit' });
  return { visible: visibleStreams, hidden, problems: expressions.problems };
}

function addPatternMatch(stream: ParsedStream, match: PatternMatch | undefined): ParsedStream {
  if (match?.preferred === undefined && match?.score === undefined) return stream;
  const { preferred, score, ranked } = match;
  return {
    ...stream,
    ...(preferred === undefined ? {} : { regexMatched: preferred.name, regexIndex: preferred.index }),
    ...(score === undefined ? {} : { regexScore: score, regexesRanked: ranked ?? [] }),
  };
}

function getServiceIds(config: AddonConfig): readonly string[] {
  return (config.services ?? []).map(({ id }) => id);
}

function recordRemovals(
  originalStreams: readonly ParsedStream[],
  remainingStreams: readonly ParsedStream[],
  hidden: FilterResult[],
  removal: Removal,
): void {
  if (originalStreams.length === remainingStreams.length) return;
  const remaining = new Set(remainingStreams);
  for (const stream of originalStreams) if (!remaining.has(stream)) hidden.push({ stream, removal });
}
