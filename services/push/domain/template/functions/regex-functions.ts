import { RunFault } from '../errors.ts';
import { Expression, quoteExpression } from '../regex/expression.ts';
import type { Run } from '../run.ts';
import { List, type Value } from '../values.ts';
import { takes, type TemplateFunction } from './signature.ts';

/** Without `must` the peer ends in a panic that says more. */
function compiled(source: string, run: Run): Expression {
  try {
    return new Expression(source, run);
  } catch (error) {
    if (error instanceof RunFault) throw new RunFault(`regexp: Compile(\`${source}\`): ${error.message}`);
    throw error;
  }
}

function texts(items: readonly string[] | undefined): List {
  return new List(items ?? [], 'string', items === undefined);
}

type Open = (source: string, run: Run) => Expression;

/** The functions of one kind: those that say `must`, and those that do not. */
function family(open: Open) {
  return {
    find: takes(['string', 'string'], ([source, text], run) => open(source, run).find(text)),
    findAll: takes(['string', 'string', 'int'], ([source, text, most], run) =>
      texts(open(source, run).findAll(text, most)),
    ),
    replaceAll: takes(['string', 'string', 'string'], ([source, text, by], run): Value => {
      const expression = open(source, run);
      return expression.replace(text, (match) => expression.expand(by, text, match));
    }),
    replaceAllLiteral: takes(['string', 'string', 'string'], ([source, text, by], run) =>
      open(source, run).replace(text, () => by),
    ),
    split: takes(['string', 'string', 'int'], ([source, text, most], run) =>
      texts(open(source, run).split(text, most)),
    ),
  };
}

const plain = family(compiled);
const must = family((source, run) => new Expression(source, run));

/** Sprig's functions for regular expressions, in the syntax of RE2. */
export const regexFunctions: Readonly<Record<string, TemplateFunction>> = {
  regexMatch: takes(['string', 'string'], ([source, text], run) => {
    try {
      return new Expression(source, run).matches(text);
    } catch (error) {
      if (error instanceof RunFault) return false;
      throw error;
    }
  }),
  mustRegexMatch: takes(['string', 'string'], ([source, text], run) => new Expression(source, run).matches(text)),
  regexFind: plain.find,
  mustRegexFind: must.find,
  regexFindAll: plain.findAll,
  mustRegexFindAll: must.findAll,
  regexReplaceAll: plain.replaceAll,
  mustRegexReplaceAll: must.replaceAll,
  regexReplaceAllLiteral: plain.replaceAllLiteral,
  mustRegexReplaceAllLiteral: must.replaceAllLiteral,
  regexSplit: plain.split,
  mustRegexSplit: must.split,
  regexQuoteMeta: takes(['string'], ([text]) => quoteExpression(text)),
};
