import { conditionOf } from '../domain/expression/condition.ts';
import { evaluate } from '../domain/expression/evaluate.ts';
import { namesOf } from '../domain/expression/variables.ts';
import { parseExpression } from '../domain/expression/parse.ts';
import { budgetOf, ExpressionError, scopeOf, streamsIn, type Value } from '../domain/expression/value.ts';
import type { AddonConfig } from '../domain/config.ts';
import { matchesPattern, readPattern, type Pattern } from '../domain/pattern.ts';
import type { PatternMatch } from '../domain/pipeline/filter.ts';
import { runPipeline } from '../domain/pipeline/pipeline.ts';
import type { Removal } from '../domain/pipeline/removal.ts';
import type { Wanted } from '../domain/pipeline/title-request.ts';
import type { ParsedStream } from '../domain/stream.ts';

/** Matches names against regular expressions. */
interface PatternsJob {
  readonly kind: 'patterns';
  readonly sources: readonly string[];
  readonly texts: readonly string[];
}

/** Contains the indexes of the matching patterns for each text, and the invalid patterns. */
export interface PatternsAnswer {
  readonly matches: readonly (readonly number[])[];
  readonly broken: readonly { readonly index: number; readonly message: string }[];
}

/** Filters and sorts streams by a configuration that has expressions. */
interface PipelineJob {
  readonly kind: 'pipeline';
  readonly config: AddonConfig;
  readonly wanted: Wanted;
  readonly streams: readonly ParsedStream[];
  readonly patterns: readonly PatternMatch[] | undefined;
}

/** Attributes that the pipeline adds to a stream. */
type Marks = Pick<
  ParsedStream,
  | 'regexMatched'
  | 'regexIndex'
  | 'regexScore'
  | 'regexesRanked'
  | 'expressionMatched'
  | 'expressionScore'
  | 'expressionsRanked'
>;
export interface PipelineAnswer {
  readonly shown: readonly { readonly index: number; readonly marks: Marks }[];
  readonly hidden: readonly { readonly index: number; readonly removal: Removal | undefined }[];
  readonly problems: readonly string[];
}

/** Evaluates a condition. */
interface ConditionJob {
  readonly kind: 'condition';
  readonly source: string;
  readonly names: Readonly<Record<string, Value>>;
}
export interface ConditionAnswer {
  readonly holds: boolean;
  readonly sentence?: string;
}

/** Selects streams with one expression. */
interface SelectJob {
  readonly kind: 'select';
  readonly source: string;
  readonly wanted: Wanted;
  readonly streams: readonly ParsedStream[];
}
export interface SelectAnswer {
  readonly indexes: readonly number[];
  readonly sentence?: string;
}

export type Job = PatternsJob | PipelineJob | ConditionJob | SelectJob;

/** Result of each kind of job. */
export interface Answers {
  readonly patterns: PatternsAnswer;
  readonly pipeline: PipelineAnswer;
  readonly condition: ConditionAnswer;
  readonly select: SelectAnswer;
}

/** Runs one job. Streams are identified by their index, which the caller stores as ID. */
export function runJob(job: Job): Answers[keyof Answers] {
  switch (job.kind) {
    case 'patterns':
      return matchPatterns(job);
    case 'pipeline':
      return filterStreams(job);
    case 'condition':
      return conditionOf(job.source, job.names, budgetOf());
    case 'select':
      return selectStreams(job);
  }
}

function matchPatterns({ sources, texts }: PatternsJob): PatternsAnswer {
  const patterns: (Pattern | undefined)[] = [];
  const broken: { index: number; message: string }[] = [];
  for (const [index, source] of sources.entries()) {
    try {
      patterns.push(readPattern(source));
    } catch (error) {
      patterns.push(undefined);
      broken.push({ index, message: error instanceof Error ? error.message : '' });
    }
  }
  const matches = texts.map((text) =>
    patterns.flatMap((pattern, index) => (pattern !== undefined && matchesPattern(pattern, text) ? [index] : [])),
  );
  return { matches, broken };
}

function filterStreams({ config, wanted, streams, patterns }: PipelineJob): PipelineAnswer {
  const { shown, hidden, problems } = runPipeline(streams, { config, wanted, patterns });
  return {
    shown: shown.map((stream) => ({ index: Number(stream.id), marks: marksOf(stream) })),
    hidden: hidden.map(({ stream, removal }) => ({ index: Number(stream.id), removal })),
    problems,
  };
}

function marksOf(stream: ParsedStream): Marks {
  const { regexMatched, regexIndex, regexScore, regexesRanked } = stream;
  const { expressionMatched, expressionScore, expressionsRanked } = stream;
  return { regexMatched, regexIndex, regexScore, regexesRanked, expressionMatched, expressionScore, expressionsRanked };
}

function selectStreams({ source, wanted, streams }: SelectJob): SelectAnswer {
  try {
    const chosen = streamsIn(evaluate(parseExpression(source), scopeOf(namesOf(wanted, streams))));
    return { indexes: chosen.map(({ id }) => Number(id)) };
  } catch (error) {
    if (error instanceof ExpressionError) return { indexes: [], sentence: error.message };
    throw error;
  }
}
