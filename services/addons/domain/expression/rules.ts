import type { AddonConfig } from '../config.ts';
import type { ConfiguredExpressions } from '../config-expressions.ts';
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
  readonly problems: readonly string[];
}

const read = new WeakMap<AddonConfig, ExpressionRules>();

/** Returns the parsed expressions of a configuration. */
export function expressionsOf(config: AddonConfig): ExpressionRules {
  const known = read.get(config);
  if (known !== undefined) return known;
  const problems: string[] = [];
  const rules = {
    included: rulesOf(config.includedStreamExpressions, problems),
    excluded: rulesOf(config.excludedStreamExpressions, problems),
    required: rulesOf(config.requiredStreamExpressions, problems),
    preferred: rulesOf(config.preferredStreamExpressions, problems),
    ranked: rulesOf(config.rankedStreamExpressions, problems),
    problems,
  };
  read.set(config, rules);
  return rules;
}

function rulesOf(list: ConfiguredExpressions, problems: string[]): readonly Rule[] {
  return (list ?? []).flatMap((one, index): Rule[] => {
    const entry = typeof one === 'string' ? { expression: one } : one;
    if (entry.enabled === false || entry.expression.trim() === '') return [];
    try {
      const expression = parseExpression(entry.expression);
      const name = expression.names.join(' ') || shortened(entry.expression);
      return [{ expression, name, score: entry.score ?? 0, index }];
    } catch (error) {
      problems.push(problemOf(shortened(entry.expression), error));
      return [];
    }
  });
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** Describes the problem of an expression. Other errors are thrown again. */
function problemOf(name: string, error: unknown): string {
  if (!(error instanceof ExpressionError)) throw error;
  return `The stream expression ${name} has no effect. ${error.message}`;
}

/** Evaluates the expressions for the streams of one request. */
export class ExpressionRun {
  readonly #rules: ExpressionRules;
  readonly #scope: Scope;
  readonly #problems: Set<string>;

  constructor(config: AddonConfig, scope: Scope) {
    this.#rules = expressionsOf(config);
    this.#scope = scope;
    this.#problems = new Set(this.#rules.problems);
  }

  get problems(): readonly string[] {
    return [...this.#problems];
  }

  /** Returns the IDs of the streams that bypass all filters. */
  included(streams: readonly ParsedStream[]): ReadonlySet<string> {
    return new Set(this.#rules.included.flatMap((rule) => this.#chosen(rule, streams)?.map(({ id }) => id) ?? []));
  }

  /** Adds the results of preferred and ranked expressions to each stream. */
  rated(streams: readonly ParsedStream[]): readonly ParsedStream[] {
    const { preferred, ranked } = this.#rules;
    if (preferred.length === 0 && ranked.length === 0) return streams;
    const first = new Map<string, Rule>();
    for (const rule of preferred)
      for (const { id } of this.#chosen(rule, streams) ?? []) if (!first.has(id)) first.set(id, rule);
    const scores = new Map<string, { score: number; names: string[] }>();
    for (const rule of ranked)
      for (const { id } of this.#chosen(rule, streams) ?? []) {
        const known = scores.get(id) ?? { score: 0, names: [] };
        scores.set(id, known);
        known.score += rule.score;
        if (rule.expression.names.length > 0) known.names.push(...rule.expression.names);
      }
    return streams.map((stream) => {
      const rule = first.get(stream.id);
      const rank = scores.get(stream.id);
      return {
        ...stream,
        ...(rule === undefined ? {} : { expressionMatched: { index: rule.index, name: rule.name } }),
        ...(rank === undefined ? {} : { expressionScore: rank.score, expressionsRanked: rank.names }),
      };
    });
  }

  /**
   * Returns the reasons of removals by stream ID: an excluded expression selects the stream, or no required expression
   * does.
   */
  removed(streams: readonly ParsedStream[]): ReadonlyMap<string, { readonly rule: string; readonly value: string }> {
    const gone = new Map<string, { readonly rule: string; readonly value: string }>();
    let left = streams;
    for (const rule of this.#rules.excluded) {
      for (const { id } of this.#chosen(rule, left) ?? [])
        if (!this.isSpared(id, 'excluded')) gone.set(id, { rule: 'Excluded Stream Expression', value: rule.name });
      left = left.filter(({ id }) => !gone.has(id));
    }
    const required = this.#rules.required.flatMap((rule) => {
      const chosen = this.#chosen(rule, left);
      return chosen === undefined ? [] : [chosen];
    });
    if (required.length === 0) return gone;
    const kept = new Set(required.flat());
    for (const stream of left)
      if (!kept.has(stream) && !this.isSpared(stream.id, 'required'))
        gone.set(stream.id, { rule: 'Required Stream Expression', value: 'none chooses it' });
    return gone;
  }

  /** Returns true when an expression exempts a stream from a stage. */
  isSpared(id: string, stage: string): boolean {
    const stages = this.#scope.marks.spared.get(id);
    return stages !== undefined && (stages.has('all') || stages.has(stage));
  }

  /** Moves pinned streams to the top or bottom. */
  pinned(streams: readonly ParsedStream[]): readonly ParsedStream[] {
    const { pinned } = this.#scope.marks;
    if (pinned.size === 0) return streams;
    const at = (where: 'top' | 'bottom' | undefined): readonly ParsedStream[] =>
      streams.filter(({ id }) => pinned.get(id) === where);
    return [...at('top'), ...at(undefined), ...at('bottom')];
  }

  #chosen({ expression, name }: Rule, streams: readonly ParsedStream[]): readonly ParsedStream[] | undefined {
    try {
      return select(expression, { ...this.#scope, names: { ...this.#scope.names, streams } });
    } catch (error) {
      this.#problems.add(problemOf(name, error));
      return undefined;
    }
  }
}
