import { fromBytes, toBytes } from '../bytes.ts';
import { RunFault } from '../errors.ts';
import { exactly, itemOf, perlClasses, posixClasses, predicateOf, unicodeItem, type Item } from './characters.ts';
import { repeatsAtMost, type Expression, type Part, type Place } from './nodes.ts';

const mostRepeats = 1000;
const deepest = 200;
const counts = /^\{(\d{1,9})(,(\d{1,9})?)?\}/;

/** What `i`, `m`, `s` and `U` switch. */
interface Switches {
  readonly folds: boolean;
  readonly lines: boolean;
  readonly dotAll: boolean;
  readonly lazy: boolean;
}

/** Parses an expression in the syntax of RE2, which Go uses. @throws RunFault with Go's words */
export function parseExpression(bytes: string): Expression {
  return new Parser(fromBytes(bytes)).expression();
}

class Parser {
  readonly #source: string;
  readonly #groups: string[] = [''];
  #at = 0;
  #depth = 0;
  #switches: Switches = { folds: false, lines: false, dotAll: false, lazy: false };

  constructor(source: string) {
    this.#source = source;
  }

  expression(): Expression {
    const part = this.#either();
    if (this.#at < this.#source.length) throw this.#fault('unexpected )', this.#source);
    return { part, groups: this.#groups };
  }

  #either(): Part {
    const parts = [this.#all()];
    while (this.#eat('|')) parts.push(this.#all());
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'either', parts };
  }

  #all(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#source.length && !/^[|)]/.test(this.#rest(1))) {
      const quoted = this.#quoted();
      if (quoted === undefined) {
        parts.push(this.#repeated(() => this.#atom()));
      } else {
        // A repetition is for the last of them.
        const last = quoted.pop();
        parts.push(...quoted);
        if (last !== undefined) parts.push(this.#repeated(() => last));
      }
    }
    return { kind: 'all', parts };
  }

  /** `\Q…\E`: characters that stand for themselves. */
  #quoted(): Part[] | undefined {
    if (!this.#eat('\\Q')) return undefined;
    const end = this.#source.indexOf('\\E', this.#at);
    const text = this.#source.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#source.length : end + 2;
    return [...text].map((letter) => this.#literal(letter));
  }

  #repeated(atom: () => Part): Part {
    const begin = this.#at;
    let part = atom();
    let operators = 0;
    for (let from = this.#at; ; from = this.#at) {
      const times = this.#times();
      if (times === undefined) return part;
      operators += 1;
      const greedy = this.#eat('?') === this.#switches.lazy;
      if (operators > 1)
        throw this.#fault('invalid nested repetition operator', this.#source.slice(begin + 1, this.#at));
      part = { kind: 'repeat', part, ...times, greedy };
      if (times.most < times.least || !repeatsAtMost(mostRepeats, part)) {
        throw this.#fault('invalid repeat count', this.#source.slice(from, this.#at));
      }
    }
  }

  #times(): { readonly least: number; readonly most: number } | undefined {
    if (this.#eat('*')) return { least: 0, most: Infinity };
    if (this.#eat('+')) return { least: 1, most: Infinity };
    if (this.#eat('?')) return { least: 0, most: 1 };
    const counted = counts.exec(this.#rest(24));
    if (counted === null) return undefined;
    this.#at += counted[0].length;
    const least = Number(counted[1]);
    return { least, most: counted[2] === undefined ? least : counted[3] === undefined ? Infinity : Number(counted[3]) };
  }

  #atom(): Part {
    const letter = this.#take();
    switch (letter) {
      case '(':
        return this.#group();
      case '[':
        return this.#class();
      case '.':
        return { kind: 'character', takes: this.#switches.dotAll ? () => true : (rune) => rune !== 10 };
      case '^':
        return { kind: 'place', where: this.#switches.lines ? 'line begin' : 'text begin' };
      case '$':
        return { kind: 'place', where: this.#switches.lines ? 'line end' : 'text end' };
      case '*':
      case '+':
      case '?':
        throw this.#fault('missing argument to repetition operator', letter);
      case '{': {
        const counted = counts.exec(letter + this.#rest(24))?.[0];
        if (counted !== undefined) throw this.#fault('missing argument to repetition operator', counted);
        return this.#literal(letter);
      }
      case '\\':
        return this.#escape();
      default:
        return this.#literal(letter);
    }
  }

  #literal(letter: string): Part {
    return { kind: 'character', takes: exactly(letter.codePointAt(0) ?? 0, this.#switches.folds) };
  }

  #group(): Part {
    if ((this.#depth += 1) > deepest) throw this.#fault('expression nests too deeply', this.#source);
    const outer = this.#switches;
    let index: number | undefined;
    if (this.#eat('?')) {
      const named = /^P?<([^>]*)>/.exec(this.#source.slice(this.#at));
      if (named === null) {
        if (this.#switch()) {
          this.#depth -= 1;
          return { kind: 'empty' };
        }
      } else {
        const [all, name = ''] = named;
        if (!/^\w+$/.test(name)) throw this.#fault('invalid named capture', `(?${all}`);
        this.#at += all.length;
        index = this.#groups.push(name) - 1;
      }
    } else {
      index = this.#groups.push('') - 1;
    }
    const part = this.#either();
    if (!this.#eat(')')) throw this.#fault('missing closing )', this.#source);
    this.#switches = outer;
    this.#depth -= 1;
    return index === undefined ? part : { kind: 'group', index, part };
  }

  /** `(?i)` switches until the group ends: true; `(?i:…)` only inside. */
  #switch(): boolean {
    const found = /^([imsU]*)(?:-([imsU]+))?([:)])/.exec(this.#rest(24));
    if (found === null || (found[0] === ')' && found[1] === '')) {
      throw this.#fault('invalid or unsupported Perl syntax', `(?${this.#rest(1)}`);
    }
    const [all, on = '', off = '', end] = found;
    this.#at += all.length;
    const now = this.#switches;
    const read = (letter: string, before: boolean): boolean => !off.includes(letter) && (on.includes(letter) || before);
    this.#switches = {
      folds: read('i', now.folds),
      lines: read('m', now.lines),
      dotAll: read('s', now.dotAll),
      lazy: read('U', now.lazy),
    };
    return end === ')';
  }

  #escape(): Part {
    const begin = this.#at - 1;
    const letter = this.#rest(1);
    const place = { A: 'text begin', z: 'text end', b: 'word edge', B: 'no word edge' }[letter] as Place | undefined;
    if (place !== undefined) {
      this.#at += 1;
      return { kind: 'place', where: place };
    }
    const inside = this.#classEscape();
    if (inside !== undefined)
      return { kind: 'character', takes: predicateOf([inside], { folds: this.#switches.folds }) };
    return { kind: 'character', takes: exactly(this.#escaped(begin), this.#switches.folds) };
  }

  /** `\d`, `\pL` and their like after the backslash. */
  #classEscape(): Item | undefined {
    const letter = this.#rest(1);
    const perl = perlClasses[letter.toLowerCase()];
    if (perl !== undefined) {
      this.#at += 1;
      return itemOf(perl, letter !== letter.toLowerCase());
    }
    const found = /^[pP](?:\{(\^?)([^}]*)\}|(.))/u.exec(this.#rest(64));
    if (found === null) return undefined;
    const [all, caret, name = '', single] = found;
    const item = unicodeItem(single ?? name, (letter === 'P') !== (caret === '^'));
    if (item === undefined) throw this.#fault('invalid character class range', `\\${all}`);
    this.#at += all.length;
    return item;
  }

  /** The character that an escape stands for. */
  #escaped(begin: number): number {
    const found = /^(?:x\{([0-9a-fA-F]{1,8})\}|x([0-9a-fA-F]{2})|([0-7]{3}|0[0-7]{0,2})|([aftnrv])|([^\w\s]))/u.exec(
      this.#rest(12),
    );
    if (found === null) {
      const rest = this.#source.slice(begin, begin + 2);
      throw rest === '\\'
        ? this.#fault('trailing backslash at end of expression', '')
        : this.#fault('invalid escape sequence', rest);
    }
    const [all, braced, hex, octal, letter, itself] = found;
    this.#at += all.length;
    if (letter !== undefined) return { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 }[letter] ?? 0;
    if (itself !== undefined) return itself.codePointAt(0) ?? 0;
    const rune = octal === undefined ? parseInt(braced ?? hex ?? '', 16) : parseInt(octal, 8);
    if (rune > 0x10ffff) throw this.#fault('invalid escape sequence', `\\${all}`);
    return rune;
  }

  #class(): Part {
    const begin = this.#at - 1;
    const negated = this.#eat('^');
    const items: Item[] = [];
    for (let first = true; first || this.#rest(1) !== ']'; first = false) {
      if (this.#at >= this.#source.length) throw this.#fault('missing closing ]', this.#source.slice(begin));
      items.push(this.#classItem(begin));
    }
    this.#at += 1;
    return { kind: 'character', takes: predicateOf(items, { negated, folds: this.#switches.folds }) };
  }

  #classItem(begin: number): Item {
    const posix = /^\[:(\^?)(\w+):\]/.exec(this.#rest(16));
    if (posix !== null) {
      const ranges = posixClasses[posix[2] ?? ''];
      if (ranges === undefined) throw this.#fault('invalid character class range', posix[0]);
      this.#at += posix[0].length;
      return itemOf(ranges, posix[1] === '^');
    }
    const from = this.#at;
    const single = this.#classCharacter(begin);
    if (typeof single !== 'number') return single;
    if (this.#rest(1) !== '-' || this.#rest(2) === '-]' || this.#at + 1 >= this.#source.length)
      return itemOf([[single, single]]);
    this.#at += 1;
    const to = this.#classCharacter(begin);
    if (typeof to !== 'number' || to < single) {
      throw this.#fault('invalid character class range', this.#source.slice(from, this.#at));
    }
    return itemOf([[single, to]]);
  }

  /** A character of a class, or a class of its own. */
  #classCharacter(begin: number): number | Item {
    if (this.#at >= this.#source.length) throw this.#fault('missing closing ]', this.#source.slice(begin));
    const letter = this.#take();
    if (letter !== '\\') return letter.codePointAt(0) ?? 0;
    return this.#classEscape() ?? this.#escaped(this.#at - 1);
  }

  #take(): string {
    const [letter = ''] = this.#rest(2);
    this.#at += letter.length;
    return letter;
  }

  #eat(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #rest(length: number): string {
    return this.#source.slice(this.#at, this.#at + length);
  }

  #fault(reason: string, at: string): RunFault {
    return new RunFault(toBytes(`error parsing regexp: ${reason}: \`${at}\``));
  }
}
