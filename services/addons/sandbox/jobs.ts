import { evaluateCondition } from '../domain/expression/condition.ts';
import { evaluate } from '../domain/expression/evaluate.ts';
import { buildVariables } from '../domain/expression/variables.ts';
import { parseExpression } from '../domain/expression/parse.ts';
import { createBudget, ExpressionError, createScope, toStreams, type Value } from '../domain/expression/value.ts';
import type { AddonConfig } from '../domain/config.ts';
import { matchesPattern, parsePattern, type Pattern } from '../domain/pattern.ts';
import type { PatternMatch } from '../domain/pipeline/filter.ts';
import { runPipeline } from '../domain/pipeline/pipeline.ts';
import type { Removal } from '../domain/removal.ts';
import type { TitleRequest } from '../domain/title-request.ts';
import type { ParsedStream } from '../domain/stream.ts';

/** Matches names against regular expressions. */
interface PatternsJob {
  readonly kind: 'patterns';
  readonly sources: readonly string[];
  readonly texts: readonly string[];
}

/** Contains the indexes of the matching patterns for each text, and the invalid patterns. */
export interface PatternsResult {
  readonly matches: readonly (readonly number[])[];
  readonly invalid: readonly { readonly index: number; readonly message: string }[];
}

/** Filters and sorts streams by a configuration that has expressions. */
interface PipelineJob {
  readonly kind: 'pipeline';
  readonly config: AddonConfig;
  readonly titleRequest: TitleRequest;
  readonly streams: readonly ParsedStream[];
  readonly patterns: readonly PatternMatch[] | undefined;
}

/** Attributes that the pipeline adds to a stream. */
type PipelineAttributes = Pick<
  ParsedStream,
  | 'regexMatched'
  | 'regexIndex'
  | 'regexScore'
  | 'regexesRanked'
  | 'expressionMatched'
  | 'expressionScore'
  | 'expressionsRanked'
>;
export interface PipelineJobResult {
  readonly visible: readonly { readonly index: number; readonly attributes: PipelineAttributes }[];
  readonly hidden: readonly { readonly index: number; readonly removal: Removal | undefined }[];
  readonly problems: readonly string[];
}

/** Evaluates a condition. */
interface ConditionJob {
  readonly kind: 'condition';
  readonly source: string;
  readonly variables: Readonly<Record<string, Value>>;
}
export interface ConditionResult {
  readonly holds: boolean;
  readonly sentence?: string;
}

/** Selects streams with one expression. */
interface SelectJob {
  readonly kind: 'select';
  readonly source: string;
  readonly titleRequest: TitleRequest;
  readonly streams: readonly ParsedStream[];
}
export interface SelectResult {
  readonly indexes: readonly number[];
  readonly sentence?: string;
}

export type Job = PatternsJob | PipelineJob | ConditionJob | SelectJob;

/** Result of each kind of job. */
export interface JobResults {
  readonly patterns: PatternsResult;
  readonly pipeline: PipelineJobResult;
  readonly condition: ConditionResult;
  readonly select: SelectResult;
}

/** Runs one job. Streams are identified by their index, which the caller stores as ID. */
export function runJob(job: Job): JobResults[keyof JobResults] {
  switch (job.kind) {
    case 'patterns':
      return matchPatterns(job);
    case 'pipeline':
      return filterStreams(job);
    case 'condition':
      return evaluateCondition(job.source, job.variables, createBudget());
    case 'select':
      return selectStreams(job);
  }
}

function matchPatterns({ sources, texts }: PatternsJob): PatternsResult {
  const patterns: (Pattern | undefined)[] = [];
  const invalid: { index: number; message: string }[] = [];
  for (const [index, source] of sources.entries()) {
    try {
      patterns.push(parsePattern(source));
    } catch (error) {
      patterns.push(undefined);
      invalid.push({ index, message: error instanceof Error ? error.message : '' });
    }
  }
  const matches = texts.map((text) =>
    patterns.flatMap((pattern, index) => (pattern !== undefined && matchesPattern(pattern, text) ? [index] : [])),
  );
  return { matches, invalid };
}

function filterStreams({ config, titleRequest, streams, patterns }: PipelineJob): PipelineJobResult {
  const { visible: visibleStreams, hidden, problems } = runPipeline(streams, { config, titleRequest, patterns });
  return {
    visible: visibleStreams.map((stream) => ({ index: Number(stream.id), attributes: pickAttributes(stream) })),
    hidden: hidden.map(({ stream, removal }) => ({ index: Number(stream.id), removal })),
    problems,
  };
}

function pickAttributes(stream: ParsedStream): PipelineAttributes {
  const { regexMatched, regexIndex, regexScore, regexesRanked } = stream;
  const { expressionMatched, expressionScore, expressionsRanked } = stream;
  return { regexMatched, regexIndex, regexScore, regexesRanked, expressionMatched, expressionScore, expressionsRanked };
}

function selectStreams({ source, titleRequest, streams }: SelectJob): SelectResult {
  try {
    const selectedStreams = toStreams(
      evaluate(parseExpression(source), createScope(buildVariables(titleRequest, streams))),
    );
    return { indexes: selectedStreams.map(({ id }) => Number(id)) };
  } catch (error) {
    if (error instanceof ExpressionError) return { indexes: [], sentence: error.sentence };
    throw error;
  }
}
