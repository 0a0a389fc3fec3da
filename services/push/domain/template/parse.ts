import { toBytes } from './bytes.ts';
import { parseNumber, parseQuoted } from './literals.ts';
import { getLine, TemplateSyntaxError, type Command, type Node, type Operand, type Pipe } from './syntax.ts';
import { readSegments, type Segment, type Token } from './tokens.ts';

/** Maximum nesting of parentheses and blocks. */
const maxDepth = 50;

/**
 * Parses a template (Go's text/template without nested templates). `isKnownFunction` reports which functions exist.
 *
 * @throws TemplateSyntaxError
 */
export function parseTemplate(text: string, isKnownFunction: (name: string) => boolean): readonly Node[] {
  return new Parser(text, isKnownFunction).template();
}

interface Block {
  readonly nodes: readonly Node[];
  /** Action that ended the block; undefined at the end of the template. */
  readonly end: { readonly word: 'end' | 'else'; readonly part: Extract<Segment, { kind: 'action' }> } | undefined;
}

class Parser {
  readonly #text: string;
  readonly #isKnownFunction: (name: string) => boolean;
  readonly #segments: readonly Segment[];
  #segmentIndex = 0;
  #depth = 0;
  #loops = 0;
  /** Names of the variables in scope. */
  #variables: string[] = ['$'];
  #tokens: readonly Token[] = [];
  #tokenIndex = 0;
  #endIndex = 0;

  constructor(text: string, isKnownFunction: (name: string) => boolean) {
    this.#text = text;
    this.#isKnownFunction = isKnownFunction;
    this.#segments = readSegments(text);
  }

  template(): readonly Node[] {
    const { nodes, end } = this.#block();
    if (end !== undefined) throw this.#error(`unexpected {{${end.word}}}`, end.part.index);
    return nodes;
  }

  #block(): Block {
    const nodes: Node[] = [];
    for (let part = this.#segments[this.#segmentIndex]; part !== undefined; part = this.#segments[this.#segmentIndex]) {
      this.#segmentIndex += 1;
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

  #enter(part: Extract<Segment, { kind: 'action' }>): void {
    this.#tokens = part.tokens;
    this.#tokenIndex = 0;
    this.#endIndex = part.end;
  }

  #action(word: string): Node {
    if (word === 'if' || word === 'with' || word === 'range') {
      this.#take();
      return this.#branch(word);
    }
    if (word === 'break' || word === 'continue') {
      this.#take();
      if (this.#loops === 0) throw this.#error(`{{${word}}} outside {{range}}`);
      this.#close(word);
      return { kind: word };
    }
    const pipe = this.#pipe('command');
    this.#close('command');
    return { kind: 'print', pipe };
  }

  #branch(kind: 'if' | 'with' | 'range'): Node {
    if ((this.#depth += 1) > maxDepth) throw this.#error('blocks are nested too deeply');
    const outer = this.#variables.length;
    const pipe = this.#pipe(kind);
    this.#close(kind);
    if (kind === 'range') this.#loops += 1;
    const { nodes: then, end } = this.#block();
    if (kind === 'range') this.#loops -= 1;
    if (end === undefined) throw this.#error('unexpected EOF', this.#text.length);
    let elseNodes: readonly Node[] = [];
    const token = this.#peek();
    if (end.word === 'else' && token?.kind === 'word' && token.text === kind && kind !== 'range') {
      // `else if` shares the end of the outer block.
      this.#take();
      elseNodes = [this.#branch(kind)];
    } else {
      this.#close(end.word);
      if (end.word === 'else') elseNodes = this.#elseBlock();
    }
    this.#variables.length = outer;
    this.#depth -= 1;
    return { kind, pipe, then, else: elseNodes };
  }

  #elseBlock(): readonly Node[] {
    const block = this.#block();
    if (block.end === undefined) throw this.#error('unexpected EOF', this.#text.length);
    if (block.end.word === 'else') throw this.#error('expected end; found {{else}}', block.end.part.index);
    this.#close('end');
    return block.nodes;
  }

  #pipe(context: string): Pipe {
    const { variables, assigns } = this.#declaration(context);
    const commands: Command[] = [];
    do commands.push(this.#command(context));
    while (this.#acceptSign('|'));
    // Variables are declared after the pipe is evaluated: `$x := $x` is invalid.
    if (!assigns) this.#variables.push(...variables);
    for (const [index, { first }] of commands.entries()) {
      if (index > 0 && !isExecutable(first)) {
        throw this.#error(`non executable command in pipeline stage ${String(index + 1)}`);
      }
    }
    return { variables, assigns, commands };
  }

  #declaration(context: string): Pick<Pipe, 'variables' | 'assigns'> {
    const start = this.#tokenIndex;
    const variables: string[] = [];
    for (let token = this.#peek(); token?.kind === 'variable'; token = this.#peek()) {
      this.#take();
      variables.push(token.text);
      const operator = this.#peek();
      if (operator?.text === ':=' || operator?.text === '=') {
        this.#take();
        const assigns = operator.text === '=';
        if (assigns) for (const name of variables) this.#requireVariable(name);
        return { variables, assigns };
      }
      if (context !== 'range' || variables.length > 1 || !this.#acceptSign(',')) break;
    }
    this.#tokenIndex = start;
    return { variables: [], assigns: false };
  }

  #command(context: string): Command {
    const firstToken = this.#peek();
    const start = firstToken?.index ?? this.#endIndex;
    const operands: Operand[] = [];
    for (let token = this.#peek(); token !== undefined && !/^(\||\)|:=|=|,)$/.test(token.text); token = this.#peek()) {
      if (operands.length > 0 && !this.#hasSpace())
        throw this.#error(`unexpected ${JSON.stringify(token.text)} in operand`);
      operands.push(this.#operand());
    }
    const [first, ...rest] = operands;
    if (first === undefined) throw this.#error(`missing value for ${context}`);
    const endIndex = this.#tokens[this.#tokenIndex]?.index ?? this.#endIndex;
    return { index: start, source: this.#text.slice(start, endIndex).trimEnd(), first, rest };
  }

  #operand(): Operand {
    const term = this.#term();
    if (term.kind === 'path') return { ...term, names: [...term.names, ...this.#names()] };
    const names = this.#names();
    if (names.length === 0) return term;
    if (term.kind !== 'pipe' && term.kind !== 'call')
      throw this.#error(`unexpected . after term ${JSON.stringify(this.#tokens[this.#tokenIndex - 2]?.text ?? '')}`);
    return { kind: 'path', from: term, names };
  }

  #term(): Operand {
    const token = this.#take();
    const source = token?.text ?? '}}';
    if (token?.kind === 'number') return this.#number(source);
    if (token?.kind === 'string') {
      const value = parseQuoted(source);
      if (value === undefined) throw this.#error('invalid syntax');
      if (typeof value === 'string') return { kind: 'value', source, value };
      return { kind: 'number', source, float: value, integer: BigInt(value), isFloat: false };
    }
    if (token?.kind === 'field') return { kind: 'path', from: '.', names: [toBytes(source.slice(1))] };
    if (token?.kind === 'variable') {
      this.#requireVariable(source);
      return { kind: 'path', from: source, names: [] };
    }
    if (source === '.') return { kind: 'dot' };
    if (source === '(') {
      if ((this.#depth += 1) > maxDepth) throw this.#error('parentheses are nested too deeply');
      const pipe = this.#pipe('parenthesized pipeline');
      if (!this.#acceptSign(')')) throw this.#error('unclosed left paren');
      this.#depth -= 1;
      return { kind: 'pipe', pipe };
    }
    if (token?.kind === 'word') return this.#word(source);
    throw this.#error(`unexpected ${JSON.stringify(source)} in operand`);
  }

  #number(source: string): Operand {
    const parsed = parseNumber(source);
    if (parsed === undefined) throw this.#error(`bad number syntax: ${JSON.stringify(source)}`);
    return { kind: 'number', source, ...parsed };
  }

  #word(name: string): Operand {
    if (name === 'true' || name === 'false') return { kind: 'value', source: name, value: name === 'true' };
    if (name === 'nil') return { kind: 'nil' };
    if (!this.#isKnownFunction(name)) throw this.#error(`function ${JSON.stringify(name)} not defined`);
    return { kind: 'call', name };
  }

  #names(): string[] {
    const names: string[] = [];
    for (let token = this.#tokens[this.#tokenIndex]; token?.kind === 'field'; token = this.#tokens[this.#tokenIndex]) {
      names.push(toBytes(token.text.slice(1)));
      this.#tokenIndex += 1;
    }
    return names;
  }

  #requireVariable(name: string): void {
    if (!this.#variables.includes(name)) throw this.#error(`undefined variable ${JSON.stringify(name)}`);
  }

  #peek(): Token | undefined {
    let index = this.#tokenIndex;
    while (this.#tokens[index]?.kind === 'space') index += 1;
    return this.#tokens[index];
  }

  #take(): Token | undefined {
    while (this.#tokens[this.#tokenIndex]?.kind === 'space') this.#tokenIndex += 1;
    const token = this.#tokens[this.#tokenIndex];
    this.#tokenIndex += 1;
    return token;
  }

  #hasSpace(): boolean {
    return this.#tokens[this.#tokenIndex]?.kind === 'space';
  }

  #acceptSign(text: string): boolean {
    if (this.#peek()?.text !== text) return false;
    this.#take();
    return true;
  }

  #close(context: string): void {
    const token = this.#peek();
    if (token !== undefined) throw this.#error(`unexpected ${JSON.stringify(token.text)} in ${context}`);
  }

  #error(reason: string, at = this.#tokens[this.#tokenIndex - 1]?.index ?? this.#endIndex): TemplateSyntaxError {
    return new TemplateSyntaxError(getLine(this.#text, at), reason);
  }
}

function isExecutable({ kind }: Operand): boolean {
  return kind === 'call' || kind === 'path' || kind === 'pipe';
}
