import { fromBytes, toBytes } from './bytes.ts';
import { ExecutionError } from './errors.ts';
import { Formatter } from './format/formatter.ts';
import { functions, lazyFunctions } from './functions/functions.ts';
import { findMethod } from './functions/methods.ts';
import { accept, getGoType, type ParameterKind, type TemplateFunction } from './functions/signature.ts';
import type { TemplateRun } from './run.ts';
import { getLine, type Command, type Node, type NumberLiteral, type Operand, type Pipe } from './syntax.ts';
import { Dict, Integer, isTrue, List, getType, type Value } from './values.ts';

type Jump = 'break' | 'continue' | undefined;

/** Value piped from the previous command. */
type PipedValue = readonly [] | readonly [Value];

/** Arguments of a call and the piped value. */
interface CallArguments {
  readonly rest: readonly Operand[];
  readonly piped: PipedValue;
}
const noArguments: CallArguments = { rest: [], piped: [] };

/**
 * Executes a parsed template and returns its output bytes. Only data and run are accessible to it.
 *
 * @throws ExecutionError with ntfy's message, LimitError
 */
export function runTemplate(text: string, nodes: readonly Node[], data: Value, run: TemplateRun): string {
  const evaluation = new Evaluation(text, data ?? undefined, run);
  evaluation.walk(nodes, data ?? undefined);
  return evaluation.output;
}

class Evaluation {
  output = '';
  readonly #text: string;
  readonly #run: TemplateRun;
  readonly #formatter: Formatter;
  readonly #variables: { readonly name: string; value: Value }[];

  constructor(text: string, data: Value, run: TemplateRun) {
    this.#text = text;
    this.#run = run;
    this.#formatter = new Formatter(run);
    this.#variables = [{ name: '$', value: data }];
  }

  walk(nodes: readonly Node[], dot: Value): Jump {
    for (const node of nodes) {
      const jump = this.#node(node, dot);
      if (jump !== undefined) return jump;
    }
    return undefined;
  }

  #node(node: Node, dot: Value): Jump {
    this.#run.step();
    switch (node.kind) {
      case 'text':
        this.#print(node.text);
        return undefined;
      case 'print': {
        const value = this.#pipe(node.pipe, dot);
        if (node.pipe.variables.length === 0) {
          this.#print(value === undefined ? '<no value>' : this.#formatter.write(value, 'v'));
        }
        return undefined;
      }
      case 'if':
      case 'with': {
        const outer = this.#variables.length;
        const value = this.#pipe(node.pipe, dot);
        const inner = node.kind === 'with' ? value : dot;
        const jump = isTrue(value) ? this.walk(node.then, inner) : this.walk(node.else, dot);
        this.#variables.length = outer;
        return jump;
      }
      case 'range':
        return this.#range(node, dot);
      case 'break':
      case 'continue':
        return node.kind;
    }
  }

  #range(node: Extract<Node, { kind: 'range' }>, dot: Value): Jump {
    const outer = this.#variables.length;
    const { variables, ...pipeWithoutVariables } = node.pipe;
    const value = this.#pipe({ ...pipeWithoutVariables, variables: [] }, dot);
    let hasElements = false;
    for (const [index, element] of this.#elements(value, node.pipe)) {
      hasElements = true;
      this.#run.step();
      const values = variables.length === 2 ? [index, element] : [element];
      variables.forEach((name, position) => {
        this.#declare(name, values[position], node.pipe.assigns);
      });
      const jump = this.walk(node.then, element);
      this.#variables.length = outer;
      if (jump === 'break') break;
    }
    const jump = hasElements ? undefined : this.walk(node.else, dot);
    this.#variables.length = outer;
    return jump;
  }

  *#elements(value: Value, { commands, variables }: Pipe): Generator<readonly [Value, Value]> {
    if (value instanceof List) {
      for (const [index, item] of value.items.entries()) yield [new Integer(index), item];
    } else if (value instanceof Dict) {
      for (const name of value.names()) yield [name, value.entries.get(name)];
    } else if (value instanceof Integer) {
      if (variables.length > 1) {
        this.#fail(commands[0], `can't use ${String(value.value)} to iterate over more than one variable`);
      }
      for (let position = 0n; position < value.value; position += 1n)
        yield [new Integer(position), new Integer(position, value.type)];
    } else if (value !== undefined) {
      this.#fail(commands[0], `range can't iterate over ${this.#formatter.write(value, 'v')}`);
    }
  }

  #pipe(pipe: Pipe, dot: Value): Value {
    let piped: PipedValue = [];
    for (const command of pipe.commands) piped = [this.#command(command, dot, piped) ?? undefined];
    const [value] = piped;
    for (const name of pipe.variables) this.#declare(name, value, pipe.assigns);
    return value;
  }

  #declare(name: string, value: Value, assigns: boolean): void {
    const definition = assigns ? this.#variables.findLast((variable) => variable.name === name) : undefined;
    if (definition === undefined) this.#variables.push({ name, value });
    else definition.value = value;
  }

  #command(command: Command, dot: Value, piped: PipedValue): Value {
    const { first, rest } = command;
    const args = { rest, piped };
    if (first.kind === 'call') return this.#call(first.name, args, dot, command);
    if (first.kind === 'path' && first.names.length > 0) return this.#path(first, args, dot, command);
    if (rest.length + piped.length > 0) {
      if (first.kind === 'path') this.#fail(command, `${command.source} is not a function, but has arguments`);
      this.#fail(command, `can't give argument to non-function ${command.source}`);
    }
    if (first.kind === 'nil') this.#fail(command, 'nil is not a command');
    return this.#operand(first, dot, command);
  }

  /** Calls a function with its arguments. */
  #call(name: string, args: CallArguments, dot: Value, command: Command): Value {
    this.#run.step();
    const lazy = lazyFunctions.get(name);
    if (lazy !== undefined) return this.#lazy(name, lazy, args, { dot, command });
    const definition = functions.get(name);
    if (definition === undefined) return this.#fail(command, `${JSON.stringify(name)} is not a defined function`);
    return this.#apply(definition, name, args, { dot, command });
  }

  #lazy(
    name: string,
    stopValue: boolean,
    { rest, piped }: CallArguments,
    { dot, command }: { readonly dot: Value; readonly command: Command },
  ): Value {
    if (rest.length + piped.length === 0) {
      this.#fail(command, `wrong number of args for ${name}: want at least 1 got 0`);
    }
    let value: Value = undefined;
    for (const operand of rest) {
      value = this.#argument(operand, 'any', dot, command) as Value;
      if (isTrue(value) === stopValue) return value;
    }
    return piped.length === 0 ? value : piped[0];
  }

  #apply(
    definition: TemplateFunction,
    name: string,
    { rest, piped }: CallArguments,
    { dot, command }: { readonly dot: Value; readonly command: Command },
  ): Value {
    const { parameters, rest: restKind } = definition;
    const count = rest.length + piped.length;
    if (count < parameters.length || (restKind === undefined && count > parameters.length)) {
      const expectedCount = `${restKind === undefined ? '' : 'at least '}${String(parameters.length)}`;
      this.#fail(command, `wrong number of args for ${name}: want ${expectedCount} got ${String(count)}`);
    }
    const getKind = (position: number): ParameterKind => parameters[position] ?? restKind ?? 'any';
    const values = rest.map((operand, position) => this.#argument(operand, getKind(position), dot, command));
    if (piped.length > 0) values.push(this.#accept(piped[0], getKind(rest.length), command));
    try {
      const value = definition.call(values, this.#run);
      if (typeof value === 'string') this.#run.checkLength(value.length);
      return value;
    } catch (error) {
      if (error instanceof ExecutionError) this.#fail(command, `error calling ${name}: ${error.message}`);
      throw error;
    }
  }

  /** Converts an operand to a parameter type. Literals take the expected type where possible. */
  #argument(operand: Operand, kind: ParameterKind, dot: Value, command: Command): unknown {
    switch (operand.kind) {
      case 'nil':
        if (kind !== 'any' && kind !== 'map') this.#fail(command, `cannot assign nil to ${getGoType(kind)}`);
        return this.#accept(undefined, kind, command);
      case 'number':
        if (kind === 'any') return this.#toUntypedNumber(operand, command);
        if (kind === 'float64') return operand.float;
        if (kind === 'int' && operand.integer !== undefined) return Number(operand.integer);
        if ((kind === 'int64' || kind === 'duration') && operand.integer !== undefined) return operand.integer;
        return this.#failMismatch(operand.source, kind, command);
      case 'value':
        if (kind === 'any' || kind === (typeof operand.value === 'string' ? 'string' : 'bool')) return operand.value;
        return this.#failMismatch(operand.source, kind, command);
      default:
        return this.#accept(this.#operand(operand, dot, command), kind, command);
    }
  }

  #failMismatch(source: string, kind: ParameterKind, command: Command): never {
    const expected = {
      bool: 'bool',
      string: 'string',
      int: 'integer',
      int64: 'integer',
      duration: 'integer',
      float64: 'float',
    };
    if (kind === 'map' || kind === 'time' || kind === 'any') {
      return this.#fail(command, `can't handle ${source} for arg of type ${getGoType(kind)}`);
    }
    return this.#fail(command, `expected ${expected[kind]}; found ${source}`);
  }

  #accept(value: Value, kind: ParameterKind, command: Command): unknown {
    try {
      return accept(value, kind);
    } catch (error) {
      if (error instanceof ExecutionError) this.#fail(command, error.message);
      throw error;
    }
  }

  #toUntypedNumber({ isFloat, float, integer, source }: NumberLiteral, command: Command): Value {
    if (isFloat) return float;
    if (integer === undefined) return this.#fail(command, `${source} overflows int`);
    return new Integer(integer);
  }

  #operand(operand: Operand, dot: Value, command: Command): Value {
    switch (operand.kind) {
      case 'dot':
        return dot;
      case 'nil':
        return undefined;
      case 'value':
        return operand.value;
      case 'number':
        return this.#toUntypedNumber(operand, command);
      case 'call':
        return this.#call(operand.name, noArguments, dot, command);
      case 'pipe':
        return this.#pipe(operand.pipe, dot);
      case 'path':
        return this.#path(operand, noArguments, dot, command);
    }
  }

  /** Evaluates a path; arguments are passed to its last name, which must then be a method. */
  #path({ from, names }: Extract<Operand, { kind: 'path' }>, args: CallArguments, dot: Value, command: Command): Value {
    let value =
      typeof from !== 'string' ? this.#operand(from, dot, command) : from === '.' ? dot : this.#variable(from);
    for (const [index, name] of names.entries()) {
      const isLast = index === names.length - 1;
      value = this.#field(value, name, isLast ? args : noArguments, { dot, command });
    }
    return value;
  }

  #field(
    value: Value,
    name: string,
    args: CallArguments,
    position: { readonly dot: Value; readonly command: Command },
  ): Value {
    if (value === undefined) return undefined;
    const { command } = position;
    if (value === null) this.#fail(command, `nil pointer evaluating interface {}.${name}`);
    const method = findMethod(value, name);
    if (method !== undefined) return this.#apply(method, name, args, position);
    if (!(value instanceof Dict)) {
      const type = typeof value === 'object' && !(value instanceof List) ? getType(value) : 'interface {}';
      this.#fail(command, `can't evaluate field ${name} in type ${type}`);
    }
    if (args.rest.length + args.piped.length > 0) {
      this.#fail(command, `.${fromBytes(name)} is not a function, but has arguments`);
    }
    return value.entries.get(name);
  }

  #variable(name: string): Value {
    return this.#variables.findLast((variable) => variable.name === name)?.value;
  }

  #print(bytes: string): void {
    this.output += bytes;
    this.#run.checkLength(this.output.length);
  }

  #fail(command: Command | undefined, reason: string): never {
    const index = command?.index ?? 0;
    const column = toBytes(this.#text.slice(this.#text.lastIndexOf('\n', index - 1) + 1, index)).length;
    const position = `:${String(getLine(this.#text, index))}:${String(column)}`;
    const source = command?.source ?? '';
    const excerpt = source.length > 20 ? `${source.slice(0, 17)}...` : source;
    throw new ExecutionError(`template: ${position}: executing "" at <${excerpt}>: ${fromBytes(reason)}`);
  }
}
