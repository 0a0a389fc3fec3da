import { toBytes } from './bytes.ts';
import { readNumber, readQuoted } from './literals.ts';
import { lineAt, SyntaxFault, type Command, type Node, type Operand, type Pipe } from './syntax.ts';
import { readParts, type Part, type Token } from './tokens.ts';

/** Parentheses and blocks inside each other at most. */
const deepest = 50;

/**
 * Parses a template of the peer's language (Go's text/template without templates inside templates). `knows` tells which
 * functions there are.
 *
 * @throws SyntaxFault
 */
export function parseTemplate(text: string, knows: (name: string) => boolean): readonly Node[] {
  return new Parser(text, knows).template();
}

interface Block {
  readonly nodes: readonly Node[];
  /** The action that ended it: undefined at the template's end. */
  readonly end: { readonly word: 'end' | 'else'; readonly part: Extract<Part, { kind: 'action' }> } | undefined;
}

class Parser {
  readonly #text: string;
  readonly #knows: (name: string) => boolean;
  readonly #parts: readonly Part[];
  #next = 0;
  #depth = 0;
  #loops = 0;
  /** Names of the variables in reach. */
  #variables: string[] = ['$'];
  #tokens: readonly Token[] = [];
  #at = 0;
  #end = 0;

  constructor(text: string, knows: (name: string) => boolean) {
    this.#text = text;
    this.#knows = knows;
    this.#parts = readParts(text);
  }

  template(): readonly Node[] {
    const { nodes, end } = this.#block();
    if (end !== undefined) throw this.#fault(`unexpected {{${end.word}}}`, end.part.at);
    return nodes;
  }

  #block(): Block {
    const nodes: Node[] = [];
    for (let part = this.#parts[this.#next]; part !== undefined; part = this.#parts[this.#next]) {
      this.#next += 1;
      if (part.kind === 'text') {
        nodes.push({ kind: 'text', text: toBytes(part.text) });
        continue;
      }
      this.#enter(part);
      const token = this.#peek();
      const word = token?.kind === 'word' ? token.text : '';
      if (word === 'end' || word === 'else') {
        this.#take();
        return { nodes, end: { word, part } };
      }
      nodes.push(this.#action(word));
    }
    return { nodes, end: undefined };
  }

  #enter(part: Extract<Part, { kind: 'action' }>): void {
    this.#tokens = part.tokens;
    this.#at = 0;
    this.#end = part.end;
  }

  #action(word: string): Node {
    if (word === 'if' || word === 'with' || word === 'range') {
      this.#take();
      return this.#branch(word);
    }
    if (word === 'break' || word === 'continue') {
      this.#take();
      if (this.#loops === 0) throw this.#fault(`{{${word}}} outside {{range}}`);
      this.#close(word);
      return { kind: word };
    }
    const pipe = this.#pipe('command');
    this.#close('command');
    return { kind: 'print', pipe };
  }

  #branch(kind: 'if' | 'with' | 'range'): Node {
    if ((this.#depth += 1) > deepest) throw this.#fault('blocks are nested too deeply');
    const outer = this.#variables.length;
    const pipe = this.#pipe(kind);
    this.#close(kind);
    if (kind === 'range') this.#loops += 1;
    const { nodes: then, end } = this.#block();
    if (kind === 'range') this.#loops -= 1;
    if (end === undefined) throw this.#fault('unexpected EOF', this.#text.length);
    let otherwise: readonly Node[] = [];
    const next = this.#peek();
    if (end.word === 'else' && next?.kind === 'word' && next.text === kind && kind !== 'range') {
      // `else if` ends where the outer one ends.
      this.#take();
      otherwise = [this.#branch(kind)];
    } else {
      this.#close(end.word);
      if (end.word === 'else') otherwise = this.#otherwise();
    }
    this.#variables.length = outer;
    this.#depth -= 1;
    return { kind, pipe, then, else: otherwise };
  }

  #otherwise(): readonly Node[] {
    const last = this.#block();
    if (last.end === undefined) throw this.#fault('unexpected EOF', this.#text.length);
    if (last.end.word === 'else') throw this.#fault('expected end; found {{else}}', last.end.part.at);
    this.#close('end');
    return last.nodes;
  }

  #pipe(where: string): Pipe {
    const { variables, assigns } = this.#declaration(where);
    const commands: Command[] = [];
    do commands.push(this.#command(where));
    while (this.#sign('|'));
    // The names count after the pipe only: `$x := $x` has no meaning.
    if (!assigns) this.#variables.push(...variables);
    for (const [index, { first }] of commands.entries()) {
      if (index > 0 && !isExecutable(first)) {
        throw this.#fault(`non executable command in pipeline stage ${String(index + 1)}`);
      }
    }
    return { variables, assigns, commands };
  }

  #declaration(where: string): Pick<Pipe, 'variables' | 'assigns'> {
    const start = this.#at;
    const variables: string[] = [];
    for (let token = this.#peek(); token?.kind === 'variable'; token = this.#peek()) {
      this.#take();
      variables.push(token.text);
      const sign = this.#peek();
      if (sign?.text === ':=' || sign?.text === '=') {
        this.#take();
        const assigns = sign.text === '=';
        if (assigns) for (const name of variables) this.#known(name);
        return { variables, assigns };
      }
      if (where !== 'range' || variables.length > 1 || !this.#sign(',')) break;
    }
    this.#at = start;
    return { variables: [], assigns: false };
  }

  #command(where: string): Command {
    const begin = this.#peek();
    const at = begin?.at ?? this.#end;
    const operands: Operand[] = [];
    for (let token = this.#peek(); token !== undefined && !/^(\||\)|:=|=|,)$/.test(token.text); token = this.#peek()) {
      if (operands.length > 0 && !this.#spaced())
        throw this.#fault(`unexpected ${JSON.stringify(token.text)} in operand`);
      operands.push(this.#operand());
    }
    const [first, ...rest] = operands;
    if (first === undefined) throw this.#fault(`missing value for ${where}`);
    const after = this.#tokens[this.#at]?.at ?? this.#end;
    return { at, source: this.#text.slice(at, after).trimEnd(), first, rest };
  }

  #operand(): Operand {
    const term = this.#term();
    if (term.kind === 'path') return { ...term, names: [...term.names, ...this.#names()] };
    const names = this.#names();
    if (names.length === 0) return term;
    if (term.kind !== 'pipe' && term.kind !== 'call')
      throw this.#fault(`unexpected . after term ${JSON.stringify(this.#tokens[this.#at - 2]?.text ?? '')}`);
    return { kind: 'path', from: term, names };
  }

  #term(): Operand {
    const token = this.#take();
    const source = token?.text ?? '}}';
    if (token?.kind === 'number') return this.#number(source);
    if (token?.kind === 'string') {
      const value = readQuoted(source);
      if (value === undefined) throw this.#fault('invalid syntax');
      if (typeof value === 'string') return { kind: 'value', source, value };
      return { kind: 'number', source, float: value, integer: BigInt(value), isFloat: false };
    }
    if (token?.kind === 'field') return { kind: 'path', from: '.', names: [toBytes(source.slice(1))] };
    if (token?.kind === 'variable') {
      this.#known(source);
      return { kind: 'path', from: source, names: [] };
    }
    if (source === '.') return { kind: 'dot' };
    if (source === '(') {
      if ((this.#depth += 1) > deepest) throw this.#fault('parentheses are nested too deeply');
      const pipe = this.#pipe('parenthesized pipeline');
      if (!this.#sign(')')) throw this.#fault('unclosed left paren');
      this.#depth -= 1;
      return { kind: 'pipe', pipe };
    }
    if (token?.kind === 'word') return this.#word(source);
    throw this.#fault(`unexpected ${JSON.stringify(source)} in operand`);
  }

  #number(source: string): Operand {
    const read = readNumber(source);
    if (read === undefined) throw this.#fault(`bad number syntax: ${JSON.stringify(source)}`);
    return { kind: 'number', source, ...read };
  }

  #word(name: string): Operand {
    if (name === 'true' || name === 'false') return { kind: 'value', source: name, value: name === 'true' };
    if (name === 'nil') return { kind: 'nil' };
    if (!this.#knows(name)) throw this.#fault(`function ${JSON.stringify(name)} not defined`);
    return { kind: 'call', name };
  }

  #names(): string[] {
    const names: string[] = [];
    for (let token = this.#tokens[this.#at]; token?.kind === 'field'; token = this.#tokens[this.#at]) {
      names.push(toBytes(token.text.slice(1)));
      this.#at += 1;
    }
    return names;
  }

  #known(name: string): void {
    if (!this.#variables.includes(name)) throw this.#fault(`undefined variable ${JSON.stringify(name)}`);
  }

  #peek(): Token | undefined {
    let at = this.#at;
    while (this.#tokens[at]?.kind === 'space') at += 1;
    return this.#tokens[at];
  }

  #take(): Token | undefined {
    while (this.#tokens[this.#at]?.kind === 'space') this.#at += 1;
    const token = this.#tokens[this.#at];
    this.#at += 1;
    return token;
  }

  #spaced(): boolean {
    return this.#tokens[this.#at]?.kind === 'space';
  }

  #sign(text: string): boolean {
    if (this.#peek()?.text !== text) return false;
    this.#take();
    return true;
  }

  #close(where: string): void {
    const token = this.#peek();
    if (token !== undefined) throw this.#fault(`unexpected ${JSON.stringify(token.text)} in ${where}`);
  }

  #fault(reason: string, at = this.#tokens[this.#at - 1]?.at ?? this.#end): SyntaxFault {
    return new SyntaxFault(lineAt(this.#text, at), reason);
  }
}

function isExecutable({ kind }: Operand): boolean {
  return kind === 'call' || kind === 'path' || kind === 'pipe';
}
