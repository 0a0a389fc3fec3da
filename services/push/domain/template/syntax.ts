/** A template, parsed. Positions are offsets into its text. */
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

/** Commands, each of which gets the value of the one before as its last argument. */
export interface Pipe {
  /** Variables that take the value: one, or for range an index and an element. */
  readonly variables: readonly string[];
  /** They exist already and change (`=`), rather than begin here (`:=`). */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
}

export interface Command {
  readonly at: number;
  /** As it was written, for messages. */
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
  /** A path from the dot (`.`), a variable (`$x`), a function or a pipe: `.a.b`, `$x.a`, `now.Year`, `(index .a 0).b`. */
  | { readonly kind: 'path'; readonly from: string | Operand; readonly names: readonly string[] };

/** A number as it is written. Which type it has depends on what takes it. */
export interface NumberLiteral {
  readonly kind: 'number';
  readonly source: string;
  readonly float: number;
  /** Undefined for one with a fraction, or that is too large. */
  readonly integer: bigint | undefined;
  /** Where nothing says otherwise. */
  readonly isFloat: boolean;
}

/** What is wrong with a template's text, as the peer says it: `template: :1: unclosed action`. */
export class SyntaxFault extends Error {
  constructor(line: number, reason: string) {
    super(`template: :${String(line)}: ${reason}`);
  }
}

/** 1 for the first line. */
export function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < position; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
