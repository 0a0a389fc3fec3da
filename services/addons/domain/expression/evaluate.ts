import type { ParsedStream } from '../stream.ts';
import { numberFunctions } from './number-functions.ts';
import type { Expression, Node } from './parse.ts';
import { streamFunctions } from './stream-functions.ts';
import { ExpressionError, isList, printed, spend, streamsIn, type Scope, type Value } from './value.ts';

/**
 * Evaluates an expression.
 *
 * @throws ExpressionError
 */
export function evaluate({ root }: Expression, scope: Scope): Value {
  return valueOf(root, scope);
}

/**
 * Returns the streams an expression selects. A boolean selects all streams or none.
 *
 * @throws ExpressionError
 */
export function select(expression: Expression, scope: Scope): readonly ParsedStream[] {
  const value = evaluate(expression, scope);
  if (value === true) return streamsIn(scope.names['streams'] ?? []);
  if (value === false) return [];
  return streamsIn(value);
}

function valueOf(node: Node, scope: Scope): Value {
  spend(scope, 1);
  switch (node.kind) {
    case 'value':
      return node.value;
    case 'name': {
      const value = Object.hasOwn(scope.names, node.name) ? scope.names[node.name] : undefined;
      if (value === undefined) throw new ExpressionError(`There is no ${node.name} here.`);
      return value;
    }
    case 'list':
      return node.items.map((item) => valueOf(item, scope));
    case 'call':
      return called(node, scope);
    case 'not':
      return !isTrue(valueOf(node.inner, scope));
    case 'minus':
      return -numberOf(valueOf(node.inner, scope));
    case 'choice':
      return valueOf(isTrue(valueOf(node.test, scope)) ? node.yes : node.no, scope);
    case 'binary':
      return combined(node.operator, node.left, node.right, scope);
  }
}

function called({ name, items }: Node & { kind: 'call' }, scope: Scope): Value {
  const found = [scope.functions, streamFunctions, numberFunctions].find(
    (functions) => functions !== undefined && Object.hasOwn(functions, name),
  )?.[name];
  if (found === undefined) throw new ExpressionError(`There is no function ${name}.`);
  const given = items.map((item) => valueOf(item, scope));
  for (const value of given) spend(scope, isList(value) ? value.length : 1);
  return found(given, scope);
}

function combined(operator: string, first: Node, second: Node, scope: Scope): Value {
  const left = valueOf(first, scope);
  if (operator === 'and' || operator === '&&') return isTrue(left) && isTrue(valueOf(second, scope));
  if (operator === 'or' || operator === '||') return isTrue(left) || isTrue(valueOf(second, scope));
  const right = valueOf(second, scope);
  switch (operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case 'in':
      if (typeof right === 'string' && typeof left === 'string') {
        spend(scope, right.length / 8);
        return right.includes(left);
      }
      if (!isList(right)) throw new ExpressionError('"in" needs a list.');
      spend(scope, right.length);
      return right.includes(left);
    case '+':
      if (typeof left === 'string' && typeof right === 'string') {
        spend(scope, left.length + right.length);
        return left + right;
      }
      return numberOf(left) + numberOf(right);
    default:
      return ofNumbers(operator, numberOf(left), numberOf(right));
  }
}

function ofNumbers(operator: string, left: number, right: number): number | boolean {
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '%':
      return left % right;
    default:
      return left ** right;
  }
}

function isTrue(value: Value): boolean {
  return isList(value) ? value.length > 0 : Boolean(value);
}

function numberOf(value: Value): number {
  if (typeof value === 'number') return value;
  throw new ExpressionError(`A number is expected, not ${printed(value).replace(/^A /, 'a ')}.`);
}
