import { ExecutionError } from '../errors.ts';
import { Expression, escapeExpression } from '../expression.ts';
import type { TemplateRun } from '../run.ts';
import { List, type Value } from '../values.ts';
import { defineFunction, type TemplateFunction } from './signature.ts';

/** Compiles an expression for functions without `must`, whose errors have a prefix in Go. */
function compile(source: string, run: TemplateRun): Expression {
  try {
    return new Expression(source, run);
  } catch (error) {
    if (error instanceof ExecutionError) throw new ExecutionError(`regexp: Compile(\`${source}\`): ${error.message}`);
    throw error;
  }
}

function toTextList(items: readonly string[] | undefined): List {
  return new List(items ?? [], 'string', items === undefined);
}

type Compile = (source: string, run: TemplateRun) => Expression;

/** Defines one family of functions: with or without `must`. */
function defineFamily(compileSource: Compile) {
  return {
    find: defineFunction(['string', 'string'], ([source, text], run) => compileSource(source, run).find(text)),
    findAll: defineFunction(['string', 'string', 'int'], ([source, text, maxMatches], run) =>
      toTextList(compileSource(source, run).findAll(text, maxMatches)),
    ),
    replaceAll: defineFunction(['string', 'string', 'string'], ([source, text, replacement], run): Value => {
      const expression = compileSource(source, run);
      return expression.replace(text, (match) => expression.expand(replacement, text, match));
    }),
    replaceAllLiteral: defineFunction(['string', 'string', 'string'], ([source, text, replacement], run) =>
      compileSource(source, run).replace(text, () => replacement),
    ),
    split: defineFunction(['string', 'string', 'int'], ([source, text, maxMatches], run) =>
      toTextList(compileSource(source, run).split(text, maxMatches)),
    ),
  };
}

const standard = defineFamily(compile);
const must = defineFamily((source, run) => new Expression(source, run));

/** Sprig's functions for regular expressions in RE2 syntax. */
export const regexFunctions: Readonly<Record<string, TemplateFunction>> = {
  regexMatch: defineFunction(['string', 'string'], ([source, text], run) => {
    try {
      return new Expression(source, run).matches(text);
    } catch (error) {
      if (error instanceof ExecutionError) return false;
      throw error;
    }
  }),
  mustRegexMatch: defineFunction(['string', 'string'], ([source, text], run) =>
    new Expression(source, run).matches(text),
  ),
  regexFind: standard.find,
  mustRegexFind: must.find,
  regexFindAll: standard.findAll,
  mustRegexFindAll: must.findAll,
  regexReplaceAll: standard.replaceAll,
  mustRegexReplaceAll: must.replaceAll,
  regexReplaceAllLiteral: standard.replaceAllLiteral,
  mustRegexReplaceAllLiteral: must.replaceAllLiteral,
  regexSplit: standard.split,
  mustRegexSplit: must.split,
  regexQuoteMeta: defineFunction(['string'], ([text]) => escapeExpression(text)),
};
