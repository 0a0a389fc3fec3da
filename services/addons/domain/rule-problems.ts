import { Problem } from '../../contracts/problem.ts';
import type { AddonConfig } from './config.ts';
import { evaluateCondition } from './expression/condition.ts';
import { select } from './expression/evaluate.ts';
import { buildVariables } from './expression/variables.ts';
import { parseExpression } from './expression/parse.ts';
import { createBudget, ExpressionError, createScope, type Budget } from './expression/value.ts';
import { findMisreadProblem, findSyntaxProblem } from './pattern.ts';
import { parseTitleRequest } from './title-request.ts';
import { getSampleStream } from './sample-stream.ts';
import { applyVariants } from './variants/variants.ts';

const verbs = ['included', 'excluded', 'required', 'preferred', 'ranked'] as const;

/** Problem of one rule with its position in the configuration. */
interface RuleProblem {
  readonly at: string;
  readonly sentence: string;
}

/** Returns the problems of all rules, each tested with one stream that has all attributes. */
export function findRuleProblems(config: AddonConfig): readonly RuleProblem[] {
  const budget = createBudget();
  return [
    ...verbs.flatMap((verb) => expressionProblems(config, verb, budget)),
    ...verbs.flatMap((verb) => patternProblems(config, verb)),
    ...conditionProblems(config, budget),
    ...(config.variants ?? []).flatMap((variant, index) =>
      variant.enabled === false ? [] : toProblems(`variants.${String(index)}`, variantProblem(config, variant.id)),
    ),
  ];
}

function expressionProblems(config: AddonConfig, verb: (typeof verbs)[number], budget: Budget): readonly RuleProblem[] {
  const list = `${verb}StreamExpressions` as const;
  const streams = [getSampleStream()];
  return (config[list] ?? []).flatMap((entry, index) => {
    const { expression, enabled = true } = typeof entry === 'string' ? { expression: entry } : entry;
    if (enabled === false || expression.trim() === '') return [];
    const variables = { ...buildVariables(parseTitleRequest('movie', 'tt1'), streams), streams };
    const sentence = findExpressionProblem(() => select(parseExpression(expression), createScope(variables, budget)));
    return toProblems(`${list}.${String(index)}`, sentence);
  });
}

function patternProblems(config: AddonConfig, verb: (typeof verbs)[number]): readonly RuleProblem[] {
  const list = `${verb}RegexPatterns` as const;
  return (config[list] ?? []).flatMap((entry, index) =>
    toProblems(`${list}.${String(index)}`, patternProblem(typeof entry === 'string' ? entry : entry.pattern)),
  );
}

function conditionProblems(config: AddonConfig, budget: Budget): readonly RuleProblem[] {
  const streams = [getSampleStream()];
  const variables = {
    previousStreams: streams,
    totalStreams: streams,
    queryType: 'movie',
    queriedAddons: ['Sample'],
    previousGroupTimeTaken: 0,
    totalTimeTaken: 0,
  };
  const conditions: readonly (readonly [at: string, source: string | null | undefined])[] = [
    ...(config.groups?.groupings ?? []).map(({ condition }, index) => [`groups.${String(index)}`, condition] as const),
    ['dynamicAddonFetching', config.dynamicAddonFetching?.condition],
  ];
  return conditions.flatMap(([position, source]) =>
    toProblems(position, evaluateCondition(source, variables, budget).sentence),
  );
}

function variantProblem(config: AddonConfig, id: string): string | undefined {
  try {
    applyVariants(config, id);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.detail;
    throw error;
  }
}

function patternProblem(source: string): string | undefined {
  const unreadable = findSyntaxProblem(source);
  if (unreadable !== undefined) return unreadable;
  return findMisreadProblem(source);
}

function findExpressionProblem(evaluateRule: () => unknown): string | undefined {
  try {
    evaluateRule();
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error.sentence;
    throw error;
  }
}

function toProblems(position: string, sentence: string | undefined): readonly RuleProblem[] {
  return sentence === undefined ? [] : [{ at: position, sentence }];
}
