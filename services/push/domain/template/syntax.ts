/** Node of a parsed template. Positions are offsets into its text. */
export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly pipe: Pipe }
  | {
      readonly kind: 'if' | 'with';
      readonly pipe: Pipe;
      readonly then: readonly Node[];
      readonly else: readonly Node[];
    }
  | { readonly kind: 'range'; readonly pipe: Pipe; readonly then: readonly Node[]; readonly else: readonly Node[] }
  | { readonly kind: 'break' | 'continue' };

/** Sequence of commands; each receives the value of the previous one as its last argument. */
export interface Pipe {
  /** Variables that receive the value: one, or for range an index and an element. */
  readonly variables: readonly string[];
  /** True for an assignment (`=`), false for a declaration (`:=`). */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
}

export interface Command {
  readonly index: number;
  /** Source text for messages. */
  readonly source: string;
  readonly first: Operand;
  readonly rest: readonly Operand[];
}

export type Operand =
  | { readonly kind: 'dot' }
  | { readonly kind: 'nil' }
  | { readonly kind: 'value'; readonly source: string; readonly value: string | boolean }
  | NumberLiteral
  | { readonly kind: 'call'; readonly name: string }
  | { readonly kind: 'pipe'; readonly pipe: Pipe }
  /** Path from the dot (`.`), a variable (`$x`), a function or a pipe: `.a.b`, `$x.a`, `now.Year`, `(index .a 0).b`. */
  | { readonly kind: 'path'; readonly from: string | Operand; readonly names: readonly string[] };

/** Number literal. Its type depends on the context. */
export interface NumberLiteral {
  readonly kind: 'number';
  readonly source: string;
  readonly float: number;
  /** Undefined for fractions and for values out of range. */
  readonly integer: bigint | undefined;
  /** Type used without context. */
  readonly isFloat: boolean;
}

/** Syntax error with ntfy's message: `template: :1: unclosed action`. */
export class TemplateSyntaxError extends Error {
  constructor(line: number, reason: string) {
    super(`template: :${String(line)}: ${reason}`);
  }
}

/** Returns the line number of a position, starting at 1. */
export function getLine(text: string, position: number): number {
  let line = 1;
  for (let index = text.indexOf('\n'); index >= 0 && index < position; index = text.indexOf('\n', index + 1)) line += 1;
  return line;
}
