import { Problem } from '../../contracts/problem.ts';
import type { AddonConfig } from './config.ts';
import { conditionOf } from './expression/condition.ts';
import { select } from './expression/evaluate.ts';
import { namesOf } from './expression/variables.ts';
import { parseExpression } from './expression/parse.ts';
import { budgetOf, ExpressionError, scopeOf, type Budget } from './expression/value.ts';
import { misreadProblem, unreadableProblem } from './pattern.ts';
import { wantedOf } from './pipeline/title-request.ts';
import { sampleStream } from './sample-stream.ts';
import { withVariants } from './variants/variants.ts';

const verbs = ['included', 'excluded', 'required', 'preferred', 'ranked'] as const;

/** Problem of one rule with its position in the configuration. */
interface RuleProblem {
  readonly at: string;
  readonly sentence: string;
}

/** Returns the problems of all rules, each tested with one stream that has all attributes. */
export function ruleProblems(config: AddonConfig): readonly RuleProblem[] {
  const budget = budgetOf();
  return [
    ...verbs.flatMap((verb) => expressionProblems(config, verb, budget)),
    ...verbs.flatMap((verb) => patternProblems(config, verb)),
    ...conditionProblems(config, budget),
    ...(config.variants ?? []).flatMap((variant, at) =>
      variant.enabled === false ? [] : told(`variants.${String(at)}`, variantProblem(config, variant.id)),
    ),
  ];
}

function expressionProblems(config: AddonConfig, verb: (typeof verbs)[number], budget: Budget): readonly RuleProblem[] {
  const list = `${verb}StreamExpressions` as const;
  const streams = [sampleStream];
  return (config[list] ?? []).flatMap((one, at) => {
    const { expression, enabled = true } = typeof one === 'string' ? { expression: one } : one;
    if (enabled === false || expression.trim() === '') return [];
    const names = { ...namesOf(wantedOf('movie', 'tt1'), streams), streams };
    const sentence = sentenceOf(() => select(parseExpression(expression), scopeOf(names, budget)));
    return told(`${list}.${String(at)}`, sentence);
  });
}

function patternProblems(config: AddonConfig, verb: (typeof verbs)[number]): readonly RuleProblem[] {
  const list = `${verb}RegexPatterns` as const;
  return (config[list] ?? []).flatMap((one, at) =>
    told(`${list}.${String(at)}`, patternProblem(typeof one === 'string' ? one : one.pattern)),
  );
}

function conditionProblems(config: AddonConfig, budget: Budget): readonly RuleProblem[] {
  const streams = [sampleStream];
  const names = {
    previousStreams: streams,
    totalStreams: streams,
    queryType: 'movie',
    queriedAddons: ['Sample'],
    previousGroupTimeTaken: 0,
    totalTimeTaken: 0,
  };
  const conditions: readonly (readonly [at: string, source: string | null | undefined])[] = [
    ...(config.groups?.groupings ?? []).map(({ condition }, at) => [`groups.${String(at)}`, condition] as const),
    ['dynamicAddonFetching', config.dynamicAddonFetching?.condition],
  ];
  return conditions.flatMap(([at, source]) => told(at, conditionOf(source, names, budget).sentence));
}

function variantProblem(config: AddonConfig, id: string): string | undefined {
  try {
    withVariants(config, id);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.detail;
    throw error;
  }
}

function patternProblem(source: string): string | undefined {
  const unreadable = unreadableProblem(source);
  if (unreadable !== undefined) return unreadable;
  const problem = misreadProblem(source);
  return problem === undefined ? undefined : `The pattern ${problem}`;
}

function sentenceOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

function told(at: string, sentence: string | undefined): readonly RuleProblem[] {
  return sentence === undefined ? [] : [{ at, sentence }];
}
