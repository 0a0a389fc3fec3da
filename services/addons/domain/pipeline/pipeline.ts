import type { AddonConfig } from '../config.ts';
import { namesOf } from '../expression/variables.ts';
import { ExpressionRun } from '../expression/rules.ts';
import { scopeOf } from '../expression/value.ts';
import type { ParsedStream } from '../stream.ts';
import { deduplicate } from './deduplicate.ts';
import { compileFilter, type FilterInput, type PatternMatch } from './filter.ts';
import type { Removal } from './removal.ts';
import { limitStreams, sortStreams } from './sort.ts';

/** Stream with the result of the pipeline. */
export interface Verdict {
  readonly stream: ParsedStream;
  /** Undefined for visible streams. */
  readonly removal: Removal | undefined;
}

export interface PipelineResult {
  readonly shown: readonly ParsedStream[];
  readonly hidden: readonly Verdict[];
  /** Messages about stream expressions that had no effect. */
  readonly problems: readonly string[];
}

type PipelineInput = Omit<FilterInput, 'included'>;

/** Filters, deduplicates, sorts and limits the streams of all addons. */
export function runPipeline(streams: readonly ParsedStream[], input: PipelineInput): PipelineResult {
  const { config, wanted, patterns } = input;
  const hidden: Verdict[] = [];
  const expressions = new ExpressionRun(config, scopeOf(namesOf(wanted, streams)));
  const filter = compileFilter({ ...input, included: expressions.included(streams) });
  const kept: ParsedStream[] = [];
  for (const [index, stream] of streams.entries()) {
    const removal = filter(stream, index);
    if (removal === undefined) kept.push(withPatterns(stream, patterns?.[index]));
    else hidden.push({ stream, removal });
  }
  const twins = kept.filter(({ id }) => !expressions.isSpared(id, 'dedup'));
  const left = new Set(deduplicate(twins, config.deduplicator, { services: servicesOf(config) }));
  const unique = kept.filter((stream) => left.has(stream) || expressions.isSpared(stream.id, 'dedup'));
  note(kept, unique, hidden, { rule: 'Duplicate', value: 'another one is better' });
  const sorted = sortStreams(expressions.rated(unique), config, wanted);
  const removed = expressions.removed(sorted);
  const chosen = sorted.filter(({ id, addon }) => addon.resultPassthrough || !removed.has(id));
  for (const stream of sorted) {
    const removal = removed.get(stream.id);
    if (removal !== undefined && !stream.addon.resultPassthrough) hidden.push({ stream, removal });
  }
  const listed = expressions.pinned(chosen);
  const shown = limitStreams(listed, config.resultLimits, ({ id }) => expressions.isSpared(id, 'limit'));
  note(listed, shown, hidden, { rule: 'Result Limit', value: 'beyond the limit' });
  return { shown, hidden, problems: expressions.problems };
}

function withPatterns(stream: ParsedStream, match: PatternMatch | undefined): ParsedStream {
  if (match?.preferred === undefined && match?.score === undefined) return stream;
  const { preferred, score, ranked } = match;
  return {
    ...stream,
    ...(preferred === undefined ? {} : { regexMatched: preferred.name, regexIndex: preferred.index }),
    ...(score === undefined ? {} : { regexScore: score, regexesRanked: ranked ?? [] }),
  };
}

function servicesOf(config: AddonConfig): readonly string[] {
  return (config.services ?? []).map(({ id }) => id);
}

function note(
  before: readonly ParsedStream[],
  after: readonly ParsedStream[],
  hidden: Verdict[],
  removal: Removal,
): void {
  if (before.length === after.length) return;
  const kept = new Set(after);
  for (const stream of before) if (!kept.has(stream)) hidden.push({ stream, removal });
}
