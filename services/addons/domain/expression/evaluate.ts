import * as m from '#messages/addons-problems';
import type { ParsedStream } from '../stream.ts';
import { numberFunctions } from './number-functions.ts';
import type { Expression, Node } from './parse.ts';
import { streamFunctions } from './stream-functions.ts';
import { ExpressionError, isList, formatValue, consumeBudget, toStreams, type Scope, type Value } from './value.ts';

/**
 * Evaluates an expression.
 *
 * @throws ExpressionError
 */
export function evaluate({ root }: Expression, scope: Scope): Value {
  return evaluateNode(root, scope);
}

/**
 * Returns the streams an expression selects. A boolean selects all streams or none.
 *
 * @throws ExpressionError
 */
export function select(expression: Expression, scope: Scope): readonly ParsedStream[] {
  const value = evaluate(expression, scope);
  if (value === true) return toStreams(scope.variables['streams'] ?? []);
  if (value === false) return [];
  return toStreams(value);
}

function evaluateNode(node: Node, scope: Scope): Value {
  consumeBudget(scope, 1);
  switch (node.kind) {
    case 'value':
      return node.value;
    case 'name': {
      const value = Object.hasOwn(scope.variables, node.name) ? scope.variables[node.name] : undefined;
      if (value === undefined) throw new ExpressionError(() => m.nameUnknown({ name: node.name }));
      return value;
    }
    case 'list':
      return node.items.map((item) => evaluateNode(item, scope));
    case 'call':
      return evaluateCall(node, scope);
    case 'not':
      return !isTruthy(evaluateNode(node.inner, scope));
    case 'minus':
      return -requireNumber(evaluateNode(node.inner, scope));
    case 'choice':
      return evaluateNode(isTruthy(evaluateNode(node.test, scope)) ? node.yes : node.no, scope);
    case 'binary':
      return evaluateBinary(node.operator, node.left, node.right, scope);
  }
}

function evaluateCall({ name, items }: Node & { kind: 'call' }, scope: Scope): Value {
  const implementation = [scope.functions, streamFunctions, numberFunctions].find(
    (functions) => functions !== undefined && Object.hasOwn(functions, name),
  )?.[name];
  if (implementation === undefined) throw new ExpressionError(() => m.functionUnknown({ name }));
  const args = items.map((item) => evaluateNode(item, scope));
  for (const value of args) consumeBudget(scope, isList(value) ? value.length : 1);
  return implementation(args, scope);
}

function evaluateBinary(operator: string, leftNode: Node, rightNode: Node, scope: Scope): Value {
  const leftValue = evaluateNode(leftNode, scope);
  if (operator === 'and' || operator === '&&') return isTruthy(leftValue) && isTruthy(evaluateNode(rightNode, scope));
  if (operator === 'or' || operator === '||') return isTruthy(leftValue) || isTruthy(evaluateNode(rightNode, scope));
  const rightValue = evaluateNode(rightNode, scope);
  switch (operator) {
    case '==':
      return leftValue === rightValue;
    case '!=':
      return leftValue !== rightValue;
    case 'in':
      if (typeof rightValue === 'string' && typeof leftValue === 'string') {
        consumeBudget(scope, rightValue.length / 8);
        return rightValue.includes(leftValue);
      }
      if (!isList(rightValue)) throw new ExpressionError(m.inRequiresList);
      consumeBudget(scope, rightValue.length);
      return rightValue.includes(leftValue);
    case '+':
      if (typeof leftValue === 'string' && typeof rightValue === 'string') {
        consumeBudget(scope, leftValue.length + rightValue.length);
        return leftValue + rightValue;
      }
      return requireNumber(leftValue) + requireNumber(rightValue);
    default:
      return calculate(operator, requireNumber(leftValue), requireNumber(rightValue));
  }
}

function calculate(operator: string, leftNumber: number, rightNumber: number): number | boolean {
  switch (operator) {
    case '<':
      return leftNumber < rightNumber;
    case '<=':
      return leftNumber <= rightNumber;
    case '>':
      return leftNumber > rightNumber;
    case '>=':
      return leftNumber >= rightNumber;
    case '-':
      return leftNumber - rightNumber;
    case '*':
      return leftNumber * rightNumber;
    case '/':
      return leftNumber / rightNumber;
    case '%':
      return leftNumber % rightNumber;
    default:
      return leftNumber ** rightNumber;
  }
}

function isTruthy(value: Value): boolean {
  return isList(value) ? value.length > 0 : Boolean(value);
}

function requireNumber(value: Value): number {
  if (typeof value === 'number') return value;
  throw new ExpressionError(() => m.numberExpected({ value: formatValue(value) }));
}
