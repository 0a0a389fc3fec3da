import { fromBytes, toBytes } from '../bytes.ts';
import { ExecutionError } from '../errors.ts';
import {
  matchesExactly,
  createItem,
  perlClasses,
  posixClasses,
  createPredicate,
  createUnicodeItem,
  type ClassItem,
} from './characters.ts';
import { isRepeatCountWithin, type ParsedExpression, type RegexNode, type Assertion } from './nodes.ts';

const maxRepeats = 1000;
const maxDepth = 200;
const countPattern = /^\{(\d{1,9})(,(\d{1,9})?)?\}/;

/** Flags `i`, `m`, `s` and `U`. */
interface RegexFlags {
  readonly foldsCase: boolean;
  readonly lines: boolean;
  readonly dotAll: boolean;
  readonly lazy: boolean;
}

/**
 * Parses an expression in RE2 syntax, as used by Go.
 *
 * @throws ExecutionError with Go's message
 */
export function parseExpression(bytes: string): ParsedExpression {
  return new Parser(fromBytes(bytes)).expression();
}

class Parser {
  readonly #source: string;
  readonly #groups: string[] = [''];
  #index = 0;
  #depth = 0;
  #flags: RegexFlags = { foldsCase: false, lines: false, dotAll: false, lazy: false };

  constructor(source: string) {
    this.#source = source;
  }

  expression(): ParsedExpression {
    const part = this.#alternation();
    if (this.#index < this.#source.length) throw this.#error('unexpected )', this.#source);
    return { part, groups: this.#groups };
  }

  #alternation(): RegexNode {
    const parts = [this.#concatenation()];
    while (this.#accept('|')) parts.push(this.#concatenation());
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'either', parts };
  }

  #concatenation(): RegexNode {
    const parts: RegexNode[] = [];
    while (this.#index < this.#source.length && !/^[|)]/.test(this.#peek(1))) {
      const literals = this.#quotedLiteral();
      if (literals === undefined) {
        parts.push(this.#withRepetition(() => this.#atom()));
      } else {
        // A quantifier applies only to the last character.
        const lastLiteral = literals.pop();
        parts.push(...literals);
        if (lastLiteral !== undefined) parts.push(this.#withRepetition(() => lastLiteral));
      }
    }
    return { kind: 'all', parts };
  }

  /** Parses `\Q…\E`: literal characters. */
  #quotedLiteral(): RegexNode[] | undefined {
    if (!this.#accept('\\Q')) return undefined;
    const end = this.#source.indexOf('\\E', this.#index);
    const text = this.#source.slice(this.#index, end < 0 ? undefined : end);
    this.#index = end < 0 ? this.#source.length : end + 2;
    return [...text].map((letter) => this.#literal(letter));
  }

  #withRepetition(atom: () => RegexNode): RegexNode {
    const start = this.#index;
    let part = atom();
    let operators = 0;
    for (let rangeStart = this.#index; ; rangeStart = this.#index) {
      const quantifier = this.#quantifier();
      if (quantifier === undefined) return part;
      operators += 1;
      const greedy = this.#accept('?') === this.#flags.lazy;
      if (operators > 1)
        throw this.#error('invalid nested repetition operator', this.#source.slice(start + 1, this.#index));
      part = { kind: 'repeat', part, ...quantifier, greedy };
      if (quantifier.max < quantifier.min || !isRepeatCountWithin(maxRepeats, part)) {
        throw this.#error('invalid repeat count', this.#source.slice(rangeStart, this.#index));
      }
    }
  }

  #quantifier(): { readonly min: number; readonly max: number } | undefined {
    if (this.#accept('*')) return { min: 0, max: Infinity };
    if (this.#accept('+')) return { min: 1, max: Infinity };
    if (this.#accept('?')) return { min: 0, max: 1 };
    const match = countPattern.exec(this.#peek(24));
    if (match === null) return undefined;
    this.#index += match[0].length;
    const min = Number(match[1]);
    return { min, max: match[2] === undefined ? min : match[3] === undefined ? Infinity : Number(match[3]) };
  }

  #atom(): RegexNode {
    const letter = this.#next();
    switch (letter) {
      case '(':
        return this.#group();
      case '[':
        return this.#class();
      case '.':
        return { kind: 'character', matches: this.#flags.dotAll ? () => true : (rune) => rune !== 10 };
      case '^':
        return { kind: 'assertion', assertion: this.#flags.lines ? 'line start' : 'text start' };
      case '$':
        return { kind: 'assertion', assertion: this.#flags.lines ? 'line end' : 'text end' };
      case '*':
      case '+':
      case '?':
        throw this.#error('missing argument to repetition operator', letter);
      case '{': {
        const match = countPattern.exec(letter + this.#peek(24))?.[0];
        if (match !== undefined) throw this.#error('missing argument to repetition operator', match);
        return this.#literal(letter);
      }
      case '\\':
        return this.#escape();
      default:
        return this.#literal(letter);
    }
  }

  #literal(letter: string): RegexNode {
    return { kind: 'character', matches: matchesExactly(letter.codePointAt(0) ?? 0, this.#flags.foldsCase) };
  }

  #group(): RegexNode {
    if ((this.#depth += 1) > maxDepth) throw this.#error('expression nests too deeply', this.#source);
    const outerFlags = this.#flags;
    let index: number | undefined;
    if (this.#accept('?')) {
      const named = /^P?<([^>]*)>/.exec(this.#source.slice(this.#index));
      if (named === null) {
        if (this.#parseFlags()) {
          this.#depth -= 1;
          return { kind: 'empty' };
        }
      } else {
        const [all, name = ''] = named;
        if (!/^\w+$/.test(name)) throw this.#error('invalid named capture', `(?${all}`);
        this.#index += all.length;
        index = this.#groups.push(name) - 1;
      }
    } else {
      index = this.#groups.push('') - 1;
    }
    const part = this.#alternation();
    if (!this.#accept(')')) throw this.#error('missing closing )', this.#source);
    this.#flags = outerFlags;
    this.#depth -= 1;
    return index === undefined ? part : { kind: 'group', index, part };
  }

  /** Parses flags. Returns true for `(?i)`, which applies until the group ends, and false for `(?i:…)`. */
  #parseFlags(): boolean {
    const match = /^([imsU]*)(?:-([imsU]+))?([:)])/.exec(this.#peek(24));
    if (match === null || (match[0] === ')' && match[1] === '')) {
      throw this.#error('invalid or unsupported Perl syntax', `(?${this.#peek(1)}`);
    }
    const [all, on = '', off = '', end] = match;
    this.#index += all.length;
    const current = this.#flags;
    const isEnabled = (letter: string, before: boolean): boolean =>
      !off.includes(letter) && (on.includes(letter) || before);
    this.#flags = {
      foldsCase: isEnabled('i', current.foldsCase),
      lines: isEnabled('m', current.lines),
      dotAll: isEnabled('s', current.dotAll),
      lazy: isEnabled('U', current.lazy),
    };
    return end === ')';
  }

  #escape(): RegexNode {
    const start = this.#index - 1;
    const letter = this.#peek(1);
    const assertion = { A: 'text start', z: 'text end', b: 'word boundary', B: 'no word boundary' }[letter] as
      Assertion | undefined;
    if (assertion !== undefined) {
      this.#index += 1;
      return { kind: 'assertion', assertion };
    }
    const item = this.#classEscape();
    if (item !== undefined)
      return { kind: 'character', matches: createPredicate([item], { foldsCase: this.#flags.foldsCase }) };
    return { kind: 'character', matches: matchesExactly(this.#escaped(start), this.#flags.foldsCase) };
  }

  /** Parses a class such as `\d` or `\pL` after the backslash. */
  #classEscape(): ClassItem | undefined {
    const letter = this.#peek(1);
    const perl = perlClasses[letter.toLowerCase()];
    if (perl !== undefined) {
      this.#index += 1;
      return createItem(perl, letter !== letter.toLowerCase());
    }
    const match = /^[pP](?:\{(\^?)([^}]*)\}|(.))/u.exec(this.#peek(64));
    if (match === null) return undefined;
    const [all, negation, name = '', single] = match;
    const item = createUnicodeItem(single ?? name, (letter === 'P') !== (negation === '^'));
    if (item === undefined) throw this.#error('invalid character class range', `\\${all}`);
    this.#index += all.length;
    return item;
  }

  /** Parses an escape sequence into a code point. */
  #escaped(start: number): number {
    const match = /^(?:x\{([0-9a-fA-F]{1,8})\}|x([0-9a-fA-F]{2})|([0-7]{3}|0[0-7]{0,2})|([aftnrv])|([^\w\s]))/u.exec(
      this.#peek(12),
    );
    if (match === null) {
      const rest = this.#source.slice(start, start + 2);
      throw rest === '\\'
        ? this.#error('trailing backslash at end of expression', '')
        : this.#error('invalid escape sequence', rest);
    }
    const [all, braced, hex, octal, letter, literal] = match;
    this.#index += all.length;
    if (letter !== undefined) return { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 }[letter] ?? 0;
    if (literal !== undefined) return literal.codePointAt(0) ?? 0;
    const rune = octal === undefined ? parseInt(braced ?? hex ?? '', 16) : parseInt(octal, 8);
    if (rune > 0x10ffff) throw this.#error('invalid escape sequence', `\\${all}`);
    return rune;
  }

  #class(): RegexNode {
    const start = this.#index - 1;
    const negated = this.#accept('^');
    const items: ClassItem[] = [];
    for (let first = true; first || this.#peek(1) !== ']'; first = false) {
      if (this.#index >= this.#source.length) throw this.#error('missing closing ]', this.#source.slice(start));
      items.push(this.#classItem(start));
    }
    this.#index += 1;
    return { kind: 'character', matches: createPredicate(items, { negated, foldsCase: this.#flags.foldsCase }) };
  }

  #classItem(start: number): ClassItem {
    const match = /^\[:(\^?)(\w+):\]/.exec(this.#peek(16));
    if (match !== null) {
      const ranges = posixClasses[match[2] ?? ''];
      if (ranges === undefined) throw this.#error('invalid character class range', match[0]);
      this.#index += match[0].length;
      return createItem(ranges, match[1] === '^');
    }
    const from = this.#index;
    const single = this.#classCharacter(start);
    if (typeof single !== 'number') return single;
    if (this.#peek(1) !== '-' || this.#peek(2) === '-]' || this.#index + 1 >= this.#source.length)
      return createItem([[single, single]]);
    this.#index += 1;
    const rangeEnd = this.#classCharacter(start);
    if (typeof rangeEnd !== 'number' || rangeEnd < single) {
      throw this.#error('invalid character class range', this.#source.slice(from, this.#index));
    }
    return createItem([[single, rangeEnd]]);
  }

  /** Parses a character of a class, or a nested class. */
  #classCharacter(start: number): number | ClassItem {
    if (this.#index >= this.#source.length) throw this.#error('missing closing ]', this.#source.slice(start));
    const letter = this.#next();
    if (letter !== '\\') return letter.codePointAt(0) ?? 0;
    return this.#classEscape() ?? this.#escaped(this.#index - 1);
  }

  #next(): string {
    const [letter = ''] = this.#peek(2);
    this.#index += letter.length;
    return letter;
  }

  #accept(text: string): boolean {
    if (!this.#source.startsWith(text, this.#index)) return false;
    this.#index += text.length;
    return true;
  }

  #peek(length: number): string {
    return this.#source.slice(this.#index, this.#index + length);
  }

  #error(reason: string, fragment: string): ExecutionError {
    return new ExecutionError(toBytes(`error parsing regexp: ${reason}: \`${fragment}\``));
  }
}
