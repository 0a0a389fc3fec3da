import { fromBytes, toBytes } from './bytes.ts';
import { RunFault } from './errors.ts';
import { Formatter } from './format/formatter.ts';
import { functions, lazyFunctions } from './functions/functions.ts';
import { methodOf } from './functions/methods.ts';
import { accept, goName, type Kind, type TemplateFunction } from './functions/signature.ts';
import type { Run } from './run.ts';
import { lineAt, type Command, type Node, type NumberLiteral, type Operand, type Pipe } from './syntax.ts';
import { Dict, Integer, isTrue, List, typeOf, type Value } from './values.ts';

type Jump = 'break' | 'continue' | undefined;

/** A value that a command gets from the one before it. */
type Piped = readonly [] | readonly [Value];

/** What a command passes on: its arguments, and what was piped in. */
interface Passed {
  readonly rest: readonly Operand[];
  readonly piped: Piped;
}
const nothing: Passed = { rest: [], piped: [] };

/**
 * Runs a parsed template on data; answers its bytes. Nothing outside of data and run can be reached from it.
 *
 * @throws RunFault with the peer's words, BoundsFault
 */
export function runTemplate(text: string, nodes: readonly Node[], data: Value, run: Run): string {
  const evaluation = new Evaluation(text, data ?? undefined, run);
  evaluation.walk(nodes, data ?? undefined);
  return evaluation.output;
}

class Evaluation {
  output = '';
  readonly #text: string;
  readonly #run: Run;
  readonly #formatter: Formatter;
  readonly #variables: { readonly name: string; value: Value }[];

  constructor(text: string, data: Value, run: Run) {
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
    const { variables, ...bare } = node.pipe;
    const value = this.#pipe({ ...bare, variables: [] }, dot);
    let any = false;
    for (const [index, element] of this.#elements(value, node.pipe)) {
      any = true;
      this.#run.step();
      const given = variables.length === 2 ? [index, element] : [element];
      variables.forEach((name, position) => {
        this.#declare(name, given[position], node.pipe.assigns);
      });
      const jump = this.walk(node.then, element);
      this.#variables.length = outer;
      if (jump === 'break') break;
    }
    const jump = any ? undefined : this.walk(node.else, dot);
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
      for (let at = 0n; at < value.value; at += 1n) yield [new Integer(at), new Integer(at, value.type)];
    } else if (value !== undefined) {
      this.#fail(commands[0], `range can't iterate over ${this.#formatter.write(value, 'v')}`);
    }
  }

  #pipe(pipe: Pipe, dot: Value): Value {
    let piped: Piped = [];
    for (const command of pipe.commands) piped = [this.#command(command, dot, piped) ?? undefined];
    const [value] = piped;
    for (const name of pipe.variables) this.#declare(name, value, pipe.assigns);
    return value;
  }

  #declare(name: string, value: Value, assigns: boolean): void {
    const known = assigns ? this.#variables.findLast((variable) => variable.name === name) : undefined;
    if (known === undefined) this.#variables.push({ name, value });
    else known.value = value;
  }

  #command(command: Command, dot: Value, piped: Piped): Value {
    const { first, rest } = command;
    const passed = { rest, piped };
    if (first.kind === 'call') return this.#call(first.name, passed, dot, command);
    if (first.kind === 'path' && first.names.length > 0) return this.#path(first, passed, dot, command);
    if (rest.length + piped.length > 0) {
      if (first.kind === 'path') this.#fail(command, `${command.source} is not a function, but has arguments`);
      this.#fail(command, `can't give argument to non-function ${command.source}`);
    }
    if (first.kind === 'nil') this.#fail(command, 'nil is not a command');
    return this.#operand(first, dot, command);
  }

  /** A function with its arguments. */
  #call(name: string, passed: Passed, dot: Value, command: Command): Value {
    this.#run.step();
    const lazy = lazyFunctions.get(name);
    if (lazy !== undefined) return this.#lazy(name, lazy, passed, { dot, command });
    const known = functions.get(name);
    if (known === undefined) return this.#fail(command, `${JSON.stringify(name)} is not a defined function`);
    return this.#apply(known, name, passed, { dot, command });
  }

  #lazy(
    name: string,
    until: boolean,
    { rest, piped }: Passed,
    { dot, command }: { readonly dot: Value; readonly command: Command },
  ): Value {
    if (rest.length + piped.length === 0) {
      this.#fail(command, `wrong number of args for ${name}: want at least 1 got 0`);
    }
    let value: Value = undefined;
    for (const operand of rest) {
      value = this.#argument(operand, 'any', dot, command) as Value;
      if (isTrue(value) === until) return value;
    }
    return piped.length === 0 ? value : piped[0];
  }

  #apply(
    called: TemplateFunction,
    name: string,
    { rest, piped }: Passed,
    { dot, command }: { readonly dot: Value; readonly command: Command },
  ): Value {
    const { takes, rest: more } = called;
    const count = rest.length + piped.length;
    if (count < takes.length || (more === undefined && count > takes.length)) {
      const least = `${more === undefined ? '' : 'at least '}${String(takes.length)}`;
      this.#fail(command, `wrong number of args for ${name}: want ${least} got ${String(count)}`);
    }
    const kindAt = (place: number): Kind => takes[place] ?? more ?? 'any';
    const given = rest.map((operand, place) => this.#argument(operand, kindAt(place), dot, command));
    if (piped.length > 0) given.push(this.#accept(piped[0], kindAt(rest.length), command));
    try {
      const value = called.call(given, this.#run);
      if (typeof value === 'string') this.#run.fits(value.length);
      return value;
    } catch (error) {
      if (error instanceof RunFault) this.#fail(command, `error calling ${name}: ${error.message}`);
      throw error;
    }
  }

  /** What a parameter of a kind gets of an operand. Literals take the type that is asked for, as far as they can. */
  #argument(operand: Operand, kind: Kind, dot: Value, command: Command): unknown {
    switch (operand.kind) {
      case 'nil':
        if (kind !== 'any' && kind !== 'map') this.#fail(command, `cannot assign nil to ${goName(kind)}`);
        return this.#accept(undefined, kind, command);
      case 'number':
        if (kind === 'any') return this.#ideal(operand, command);
        if (kind === 'float64') return operand.float;
        if (kind === 'int' && operand.integer !== undefined) return Number(operand.integer);
        if ((kind === 'int64' || kind === 'duration') && operand.integer !== undefined) return operand.integer;
        return this.#misfit(operand.source, kind, command);
      case 'value':
        if (kind === 'any' || kind === (typeof operand.value === 'string' ? 'string' : 'bool')) return operand.value;
        return this.#misfit(operand.source, kind, command);
      default:
        return this.#accept(this.#operand(operand, dot, command), kind, command);
    }
  }

  #misfit(source: string, kind: Kind, command: Command): never {
    const expected = {
      bool: 'bool',
      string: 'string',
      int: 'integer',
      int64: 'integer',
      duration: 'integer',
      float64: 'float',
    };
    if (kind === 'map' || kind === 'time' || kind === 'any') {
      return this.#fail(command, `can't handle ${source} for arg of type ${goName(kind)}`);
    }
    return this.#fail(command, `expected ${expected[kind]}; found ${source}`);
  }

  #accept(value: Value, kind: Kind, command: Command): unknown {
    try {
      return accept(value, kind);
    } catch (error) {
      if (error instanceof RunFault) this.#fail(command, error.message);
      throw error;
    }
  }

  #ideal({ isFloat, float, integer, source }: NumberLiteral, command: Command): Value {
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
        return this.#ideal(operand, command);
      case 'call':
        return this.#call(operand.name, nothing, dot, command);
      case 'pipe':
        return this.#pipe(operand.pipe, dot);
      case 'path':
        return this.#path(operand, nothing, dot, command);
    }
  }

  /** A path; what is passed goes to its last name, which must be a method then. */
  #path({ from, names }: Extract<Operand, { kind: 'path' }>, passed: Passed, dot: Value, command: Command): Value {
    let value =
      typeof from !== 'string' ? this.#operand(from, dot, command) : from === '.' ? dot : this.#variable(from);
    for (const [index, name] of names.entries()) {
      const isLast = index === names.length - 1;
      value = this.#field(value, name, isLast ? passed : nothing, { dot, command });
    }
    return value;
  }

  #field(value: Value, name: string, passed: Passed, place: { readonly dot: Value; readonly command: Command }): Value {
    if (value === undefined) return undefined;
    const { command } = place;
    if (value === null) this.#fail(command, `nil pointer evaluating interface {}.${name}`);
    const method = methodOf(value, name);
    if (method !== undefined) return this.#apply(method, name, passed, place);
    if (!(value instanceof Dict)) {
      const type = typeof value === 'object' && !(value instanceof List) ? typeOf(value) : 'interface {}';
      this.#fail(command, `can't evaluate field ${name} in type ${type}`);
    }
    if (passed.rest.length + passed.piped.length > 0) {
      this.#fail(command, `.${fromBytes(name)} is not a function, but has arguments`);
    }
    return value.entries.get(name);
  }

  #variable(name: string): Value {
    return this.#variables.findLast((variable) => variable.name === name)?.value;
  }

  #print(bytes: string): void {
    this.output += bytes;
    this.#run.fits(this.output.length);
  }

  #fail(command: Command | undefined, reason: string): never {
    const at = command?.at ?? 0;
    const column = toBytes(this.#text.slice(this.#text.lastIndexOf('\n', at - 1) + 1, at)).length;
    const place = `:${String(lineAt(this.#text, at))}:${String(column)}`;
    const source = command?.source ?? '';
    const shown = source.length > 20 ? `${source.slice(0, 17)}...` : source;
    throw new RunFault(`template: ${place}: executing "" at <${shown}>: ${fromBytes(reason)}`);
  }
}
