import * as m from '#messages/addons-problems';
import type { AddonConfig } from '../config.ts';
import type { ConfiguredExpressions } from '../config-expressions.ts';
import type { Removal } from '../removal.ts';
import type { ParsedStream } from '../stream.ts';
import { select } from './evaluate.ts';
import { parseExpression, type Expression } from './parse.ts';
import { ExpressionError, type Scope } from './value.ts';

/** Expression of a configuration. */
interface Rule {
  readonly expression: Expression;
  readonly name: string;
  readonly score: number;
  /** Index in the configuration. */
  readonly index: number;
}

/** Expressions of a configuration by purpose, and the problems of invalid ones. */
interface ExpressionRules {
  readonly included: readonly Rule[];
  readonly excluded: readonly Rule[];
  readonly required: readonly Rule[];
  readonly preferred: readonly Rule[];
  readonly ranked: readonly Rule[];
  readonly problems: readonly (() => string)[];
}

const rulesCache = new WeakMap<AddonConfig, ExpressionRules>();

/** Returns the parsed expressions of a configuration. */
export function getExpressionRules(config: AddonConfig): ExpressionRules {
  const cached = rulesCache.get(config);
  if (cached !== undefined) return cached;
  const problems: (() => string)[] = [];
  const rules = {
    included: compileRules(config.includedStreamExpressions, problems),
    excluded: compileRules(config.excludedStreamExpressions, problems),
    required: compileRules(config.requiredStreamExpressions, problems),
    preferred: compileRules(config.preferredStreamExpressions, problems),
    ranked: compileRules(config.rankedStreamExpressions, problems),
    problems,
  };
  rulesCache.set(config, rules);
  return rules;
}

function compileRules(list: ConfiguredExpressions, problems: (() => string)[]): readonly Rule[] {
  return (list ?? []).flatMap((configured, index): Rule[] => {
    const rule = typeof configured === 'string' ? { expression: configured } : configured;
    if (rule.enabled === false || rule.expression.trim() === '') return [];
    try {
      const expression = parseExpression(rule.expression);
      const name = expression.names.join(' ') || truncate(rule.expression);
      return [{ expression, name, score: rule.score ?? 0, index }];
    } catch (error) {
      problems.push(formatProblem(truncate(rule.expression), error));
      return [];
    }
  });
}

function truncate(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** Describes the problem of an expression. Other errors are thrown again. */
function formatProblem(name: string, error: unknown): () => string {
  if (!(error instanceof ExpressionError)) throw error;
  return () => m.expressionIgnored({ name, problem: error.sentence });
}

/** Evaluates the expressions for the streams of one request. */
export class ExpressionRun {
  readonly #rules: ExpressionRules;
  readonly #scope: Scope;
  readonly #problems: Set<string>;

  constructor(config: AddonConfig, scope: Scope) {
    this.#rules = getExpressionRules(config);
    this.#scope = scope;
    this.#problems = new Set(this.#rules.problems.map((problem) => problem()));
  }

  get problems(): readonly string[] {
    return [...this.#problems];
  }

  /** Returns the IDs of the streams that bypass all filters. */
  getIncludedIds(streams: readonly ParsedStream[]): ReadonlySet<string> {
    return new Set(this.#rules.included.flatMap((rule) => this.#select(rule, streams)?.map(({ id }) => id) ?? []));
  }

  /** Adds the results of preferred and ranked expressions to each stream. */
  addScores(streams: readonly ParsedStream[]): readonly ParsedStream[] {
    const { preferred, ranked } = this.#rules;
    if (preferred.length === 0 && ranked.length === 0) return streams;
    const preferredRules = new Map<string, Rule>();
    for (const rule of preferred)
      for (const { id } of this.#select(rule, streams) ?? []) if (!preferredRules.has(id)) preferredRules.set(id, rule);
    const scores = new Map<string, { score: number; names: string[] }>();
    for (const rule of ranked)
      for (const { id } of this.#select(rule, streams) ?? []) {
        const streamScore = scores.get(id) ?? { score: 0, names: [] };
        scores.set(id, streamScore);
        streamScore.score += rule.score;
        if (rule.expression.names.length > 0) streamScore.names.push(...rule.expression.names);
      }
    return streams.map((stream) => {
      const rule = preferredRules.get(stream.id);
      const streamRank = scores.get(stream.id);
      return {
        ...stream,
        ...(rule === undefined ? {} : { expressionMatched: { index: rule.index, name: rule.name } }),
        ...(streamRank === undefined ? {} : { expressionScore: streamRank.score, expressionsRanked: streamRank.names }),
      };
    });
  }

  /**
   * Returns the reasons of removals by stream ID: an excluded expression selects the stream, or no required expression
   * does.
   */
  getRemovals(streams: readonly ParsedStream[]): ReadonlyMap<string, Removal> {
    const removals = new Map<string, Removal>();
    let remaining = streams;
    for (const rule of this.#rules.excluded) {
      for (const { id } of this.#select(rule, remaining) ?? [])
        if (!this.isExempt(id, 'excluded')) removals.set(id, { rule: 'Excluded Stream Expression', value: rule.name });
      remaining = remaining.filter(({ id }) => !removals.has(id));
    }
    const selections = this.#rules.required.flatMap((rule) => {
      const selection = this.#select(rule, remaining);
      return selection === undefined ? [] : [selection];
    });
    if (selections.length === 0) return removals;
    const requiredStreams = new Set(selections.flat());
    for (const stream of remaining)
      if (!requiredStreams.has(stream) && !this.isExempt(stream.id, 'required'))
        removals.set(stream.id, { rule: 'Required Stream Expression', value: 'none chooses it' });
    return removals;
  }

  /** Returns true when an expression exempts a stream from a stage. */
  isExempt(id: string, stage: string): boolean {
    const exemptStages = this.#scope.effects.exemptions.get(id);
    return exemptStages !== undefined && (exemptStages.has('all') || exemptStages.has(stage));
  }

  /** Moves pinned streams to the top or bottom. */
  movePinned(streams: readonly ParsedStream[]): readonly ParsedStream[] {
    const { pinned } = this.#scope.effects;
    if (pinned.size === 0) return streams;
    const streamsAt = (position: 'top' | 'bottom' | undefined): readonly ParsedStream[] =>
      streams.filter(({ id }) => pinned.get(id) === position);
    return [...streamsAt('top'), ...streamsAt(undefined), ...streamsAt('bottom')];
  }

  #select({ expression, name }: Rule, streams: readonly ParsedStream[]): readonly ParsedStream[] | undefined {
    try {
      return select(expression, { ...this.#scope, variables: { ...this.#scope.variables, streams } });
    } catch (error) {
      this.#problems.add(formatProblem(name, error)());
      return undefined;
    }
  }
}
