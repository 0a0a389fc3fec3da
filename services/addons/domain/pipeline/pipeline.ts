import type { AddonConfig } from '../config.ts';
import type { ParsedStream } from '../stream.ts';
import { deduplicate } from './deduplicate.ts';
import { compileFilter, type FilterInput } from './filter.ts';
import type { Removal } from './removal.ts';
import { limitStreams, sortStreams } from './sort.ts';

/** What became of a stream, for those who ask why. */
export interface Verdict {
  readonly stream: ParsedStream;
  /** Undefined: it is shown. */
  readonly removal: Removal | undefined;
}

export interface PipelineResult {
  readonly shown: readonly ParsedStream[];
  readonly hidden: readonly Verdict[];
}

/** All streams of all addons, in their order, become the list a person sees: filtered, without twins, sorted, cut. */
export function runPipeline(streams: readonly ParsedStream[], input: FilterInput): PipelineResult {
  const { config, wanted, patterns } = input;
  const hidden: Verdict[] = [];
  const filter = compileFilter(input);
  const kept: ParsedStream[] = [];
  for (const [index, stream] of streams.entries()) {
    const removal = filter(stream, index);
    const preferred = patterns?.[index]?.preferred;
    if (removal !== undefined) hidden.push({ stream, removal });
    else if (preferred === undefined) kept.push(stream);
    else kept.push({ ...stream, regexMatched: preferred.name, regexIndex: preferred.index });
  }
  const unique = deduplicate(kept, config.deduplicator, { services: servicesOf(config) });
  note(kept, unique, hidden, { rule: 'Duplicate', value: 'another one is better' });
  const sorted = sortStreams(unique, config, wanted);
  const shown = limitStreams(sorted, config.resultLimits);
  note(sorted, shown, hidden, { rule: 'Result Limit', value: 'beyond the limit' });
  return { shown, hidden };
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
