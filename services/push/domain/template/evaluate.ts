import { RunFault } from './arguments.ts';
import { functions, lazyFunctions } from './functions.ts';
import { lineAt, type Command, type Node, type Operand, type Pipe } from './syntax.ts';
import { entryOf, isList, isMap, isTrue, textOf, type Value } from './values.ts';

/** What a template may use up; both are refused beyond. */
export interface Bounds {
  /** Characters of output, and of any value on the way. */
  readonly characters: number;
  readonly steps: number;
  /** Asked now and then: the time is up. */
  readonly expired: () => boolean;
}

/** A template used up what it may use. */
export class BoundsFault extends Error {
  readonly kind: 'time' | 'size';
  constructor(kind: 'time' | 'size') {
    super(kind);
    this.kind = kind;
  }
}

type Jump = 'break' | 'continue' | undefined;

/**
 * Runs a parsed template on data. Nothing outside of the data can be reached from it.
 *
 * @throws RunFault with the peer's words, BoundsFault
 */
export function runTemplate(text: string, nodes: readonly Node[], data: Value, bounds: Bounds): string {
  const run = new Run(text, data, bounds);
  run.walk(nodes, data);
  return run.output;
}

class Run {
  output = '';
  readonly #text: string;
  readonly #bounds: Bounds;
  readonly #variables: { readonly name: string; value: Value }[];
  #steps = 0;

  constructor(text: string, data: Value, bounds: Bounds) {
    this.#text = text;
    this.#bounds = bounds;
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
    this.#step();
    switch (node.kind) {
      case 'text':
        this.#print(node.text);
        return undefined;
      case 'print': {
        const value = this.#pipe(node.pipe, dot);
        if (node.pipe.variables.length === 0) this.#print(textOf(value));
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
      this.#step();
      const given = variables.length === 2 ? [index, element] : [element];
      variables.forEach((name, position) => this.#declare(name, given[position] ?? null, node.pipe.assigns));
      const jump = this.walk(node.then, element);
      this.#variables.length = outer;
      if (jump === 'break') break;
    }
    const jump = any ? undefined : this.walk(node.else, dot);
    this.#variables.length = outer;
    return jump;
  }

  *#elements(value: Value, pipe: Pipe): Generator<readonly [Value, Value]> {
    if (isList(value)) yield* value.entries();
    else if (isMap(value)) for (const name of Object.keys(value).sort()) yield [name, entryOf(value, name)];
    else if (typeof value === 'number' && Number.isInteger(value)) for (let at = 0; at < value; at += 1) yield [at, at];
    else if (value !== null) this.#fail(pipe.commands[0], `range can't iterate over ${textOf(value)}`);
  }

  #pipe(pipe: Pipe, dot: Value): Value {
    let value: Value = null;
    pipe.commands.forEach((command, index) => {
      value = this.#command(command, dot, index === 0 ? [] : [value]);
    });
    for (const name of pipe.variables) this.#declare(name, value, pipe.assigns);
    return value;
  }

  #declare(name: string, value: Value, assigns: boolean): void {
    const known = assigns ? this.#variables.findLast((variable) => variable.name === name) : undefined;
    if (known === undefined) this.#variables.push({ name, value });
    else known.value = value;
  }

  #command(command: Command, dot: Value, last: readonly Value[]): Value {
    const { first, rest } = command;
    if (first.kind !== 'call') {
      if (rest.length + last.length > 0) this.#fail(command, `${command.source} is not a function, but has arguments`);
      return this.#operand(first, dot, command);
    }
    return this.#call(first.name, rest, dot, last, command);
  }

  #call(name: string, rest: readonly Operand[], dot: Value, last: readonly Value[], command: Command): Value {
    this.#step();
    const lazy = lazyFunctions[name];
    if (lazy !== undefined) {
      let value: Value = null;
      for (const read of [
        ...rest.map((each) => () => this.#operand(each, dot, command)),
        ...last.map((each) => () => each),
      ]) {
        value = read();
        if (isTrue(value) === lazy) break;
      }
      return value;
    }
    const given = [...rest.map((each) => this.#operand(each, dot, command)), ...last];
    const known = functions.get(name);
    if (known === undefined) return this.#fail(command, `${JSON.stringify(name)} is not a defined function`);
    if (given.length < known.least || given.length > known.most) {
      const least = known.most === Infinity ? `at least ${String(known.least)}` : String(known.least);
      this.#fail(command, `wrong number of args for ${name}: want ${least} got ${String(given.length)}`);
    }
    try {
      const value = known.call(given, this.#bounds.characters);
      this.#bound(value);
      return value;
    } catch (error) {
      if (error instanceof RunFault) this.#fail(command, `error calling ${name}: ${error.message}`);
      throw error;
    }
  }

  #operand(operand: Operand, dot: Value, command: Command): Value {
    switch (operand.kind) {
      case 'dot':
        return dot;
      case 'value':
        return operand.value;
      case 'call':
        return this.#call(operand.name, [], dot, [], command);
      case 'path': {
        const { from, names } = operand;
        let value = from === '.' ? dot : typeof from === 'string' ? this.#variable(from) : this.#pipe(from, dot);
        for (const name of names) {
          if (isMap(value)) value = entryOf(value, name);
          else if (value !== null) this.#fail(command, `can't evaluate field ${name} in type interface {}`);
        }
        return value;
      }
    }
  }

  #variable(name: string): Value {
    return this.#variables.findLast((variable) => variable.name === name)?.value ?? null;
  }

  #print(text: string): void {
    this.output += text;
    if (this.output.length > this.#bounds.characters) throw new BoundsFault('size');
  }

  #bound(value: Value): void {
    if (typeof value === 'string' && value.length > this.#bounds.characters) throw new BoundsFault('size');
  }

  #step(): void {
    this.#steps += 1;
    if (this.#steps > this.#bounds.steps) throw new BoundsFault('time');
    if (this.#steps % 64 === 0 && this.#bounds.expired()) throw new BoundsFault('time');
  }

  #fail(command: Command | undefined, reason: string): never {
    const at = command?.at ?? 0;
    const column = at - (this.#text.lastIndexOf('\n', at - 1) + 1);
    const place = `:${String(lineAt(this.#text, at))}:${String(column)}`;
    throw new RunFault(`template: ${place}: executing "" at <${command?.source ?? ''}>: ${reason}`);
  }
}
