import * as m from '#messages/addons-problems';
import { evaluate } from './evaluate.ts';
import { parseExpression } from './parse.ts';
import { ExpressionError, createScope, type Budget, type Value } from './value.ts';

/**
 * Evaluates a condition. Results that are not booleans are reported as a problem.
 *
 * @param budget Budget of the request.
 */
export function evaluateCondition(
  source: string | null | undefined,
  names: Readonly<Record<string, Value>>,
  budget: Budget,
): { readonly holds: boolean; readonly sentence?: string } {
  if (source === null || source === undefined || source.trim() === '') return { holds: true };
  try {
    const value = evaluate(parseExpression(source), createScope(names, budget));
    if (typeof value === 'boolean') return { holds: value };
    return {
      holds: false,
      sentence: m.conditionNotBoolean(),
    };
  } catch (error) {
    if (error instanceof ExpressionError) return { holds: false, sentence: error.sentence };
    throw error;
  }
}
