import { compileModifier } from './modifiers.ts';
import { ModifierSource, readModifier } from './read-modifier.ts';
import {
  findField,
  isField,
  hasValue,
  isSection,
  type Field,
  type FieldValue,
  type FormatValues,
  type Modifier,
} from './values.ts';

/** Maximum length of a template. Longer templates are refused, and longer texts are truncated. */
export const maxTemplateLength = 20_000;
const maxTextLength = 8000;
const maxDepth = 8;

/**
 * Layout instructions are represented by control characters, which are removed from values, so that only templates can
 * contain them.
 */
const newLineMark = '\u0011';
const removeLineMark = '\u0012';
const layoutMarks = new RegExp(`[${newLineMark}${removeLineMark}]`, 'g');

/** Compiled template, which is parsed once for all streams. */
export type Template = (values: FormatValues) => string;

interface Part {
  readonly render: Template;
  /**
   * Returns true when the fields of the part have values. Absent for parts that never suppress the optional group
   * around them.
   */
  readonly isPresent?: (values: FormatValues) => boolean;
}

/** Field or quoted text with its modifiers. */
interface Operand {
  readonly value: (values: FormatValues) => FieldValue;
  readonly isPresent: (values: FormatValues) => boolean;
}

const joiners = ['and', 'or', 'xor', 'equal', 'neq', 'left', 'right'] as const;
type Joiner = (typeof joiners)[number];

/** Compiles a template. Braces that begin no expression are unchanged. */
export function compileTemplate(source: string): Template {
  const render = compileParts(source.slice(0, maxTemplateLength), 0, createBudget());
  return (values) => removeEmptyLines(renderParts(render, values).slice(0, maxTextLength));
}

/** Describes a part of a template that has no effect or appears as text, with its position in characters. */
interface TemplateProblem {
  readonly index: number;
  readonly length: number;
  readonly code: 'expression' | 'field' | 'modifier';
  /** Name of the unknown field or modifier; the brace of an expression that could not be read. */
  readonly text: string;
}

/** Finds expressions that could not be read, and unknown fields and modifiers, in the order of the template. */
export function findTemplateProblems(source: string): readonly TemplateProblem[] {
  const problems: TemplateProblem[] = [];
  compileParts(source.slice(0, maxTemplateLength), 0, createBudget(problems));
  return problems.toSorted((a, b) => a.index - b.index);
}

/** Removes empty lines and lines that are marked for removal. */
function removeEmptyLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.includes(removeLineMark));
  return lines.join('\n').replaceAll(newLineMark, '\n');
}

function renderParts(parts: readonly Part[], values: FormatValues): string {
  let text = '';
  for (const { render } of parts) {
    if (text.length > maxTextLength) break;
    text += render(values);
  }
  return text;
}

/**
 * Remaining characters that may be parsed again while one template is compiled. Templates beyond the limit are not
 * expanded.
 */
interface ParseBudget {
  remaining: number;
  /** Problems of the template; undefined for streams, whose players show none. */
  readonly problems: TemplateProblem[] | undefined;
}

const maxParsedCharacters = 1_000_000;
/** Cost of each parsed modifier, because an unterminated expression parses all following modifiers again. */
const modifierCost = 100;

function createBudget(problems?: TemplateProblem[]): ParseBudget {
  return { remaining: maxParsedCharacters, problems };
}

/** @param offset Index of the source in the template. */
function compileParts(source: string, depth: number, budget: ParseBudget, offset = 0): readonly Part[] {
  budget.remaining -= source.length;
  if (depth > maxDepth || budget.remaining < 0) return [createLiteral(source)];
  return new TemplateReader(source, { depth, budget, offset }).parse();
}

function createLiteral(text: string): Part {
  const literalText = text.replaceAll(String.raw`\n`, '\n').replaceAll(layoutMarks, '');
  return { render: () => literalText };
}

/** Parses one template from left to right. */
class TemplateReader {
  readonly #text: string;
  readonly #depth: number;
  readonly #budget: ParseBudget;
  readonly #optionalGroupEnds: ReadonlyMap<number, number>;
  readonly #offset: number;
  #index = 0;

  constructor(
    text: string,
    { depth, budget, offset }: { readonly depth: number; readonly budget: ParseBudget; readonly offset: number },
  ) {
    this.#text = text;
    this.#depth = depth;
    this.#budget = budget;
    this.#offset = offset;
    this.#optionalGroupEnds = findOptionalEnds(text);
  }

  parse(): readonly Part[] {
    const parts: Part[] = [];
    let literalStart = 0;
    while (this.#index < this.#text.length) {
      const start = this.#text.indexOf('{', this.#index);
      if (start === -1) break;
      this.#index = start;
      const problemCount = this.#budget.problems?.length ?? 0;
      const part = this.#parseTool() ?? this.#parseOptional() ?? this.#parseExpression();
      if (part === undefined) {
        // Problems within an expression that could not be read are reported when its parts are read.
        this.#budget.problems?.splice(problemCount);
        this.#report(start, 'expression', '{');
        this.#index = start + 1;
        continue;
      }
      if (start > literalStart) parts.push(createLiteral(this.#text.slice(literalStart, start)));
      parts.push(part);
      literalStart = this.#index;
    }
    if (literalStart < this.#text.length) parts.push(createLiteral(this.#text.slice(literalStart)));
    return parts;
  }

  #parseTool(): Part | undefined {
    const toolPattern = /\{\s*tools\.(newline|removeline)\s*\}/iy;
    toolPattern.lastIndex = this.#index;
    const name = toolPattern.exec(this.#text)?.[1]?.toLowerCase();
    if (name === undefined) return undefined;
    this.#index = toolPattern.lastIndex;
    return { render: () => (name === 'newline' ? newLineMark : removeLineMark) };
  }

  /** Parses `{?text {stream.x} text?}`, which is omitted when a field within it has no value. */
  #parseOptional(): Part | undefined {
    const end = this.#optionalGroupEnds.get(this.#index);
    if (end === undefined) return undefined;
    const parts = compileParts(
      this.#text.slice(this.#index + 2, end),
      this.#depth + 1,
      this.#budget,
      this.#offset + this.#index + 2,
    );
    this.#index = end + 2;
    return {
      render: (values) =>
        parts.some(({ isPresent }) => isPresent?.(values) === false) ? '' : renderParts(parts, values),
    };
  }

  #parseExpression(): Part | undefined {
    const start = this.#index;
    this.#index += 1;
    this.#skipSpaces();
    const firstOperand = this.#parseOperand();
    const chain = firstOperand === undefined ? undefined : this.#parseChain(firstOperand);
    const choices = chain === undefined ? undefined : this.#parseChoices();
    if (chain === undefined || choices === undefined) {
      this.#index = start;
      return undefined;
    }
    this.#skipSpaces();
    if (this.#text[this.#index] !== '}' && !this.#skipToBrace()) {
      this.#index = start;
      return undefined;
    }
    this.#index += 1;
    if (choices.length === 0) {
      return { render: (values) => formatValue(chain.value(values)), isPresent: chain.isPresent };
    }
    return { render: (values) => renderChoice(chain.value(values), choices, values) };
  }

  /** Skips unknown parts after a complete expression, so that no braces are visible. */
  #skipToBrace(): boolean {
    const end = this.#text.indexOf('}', this.#index);
    const nextBrace = this.#text.indexOf('{', this.#index);
    if (end === -1 || (nextBrace !== -1 && nextBrace < end)) return false;
    this.#index = end;
    return true;
  }

  #report(index: number, code: TemplateProblem['code'], text: string): void {
    this.#budget.problems?.push({ index: this.#offset + index, length: text.length, code, text });
  }

  #skipSpaces(): void {
    while (/\s/.test(this.#text[this.#index] ?? '')) this.#index += 1;
  }

  /** Parses `section.field` or a quoted text with its modifiers, up to a joiner, the choices or the end. */
  #parseOperand(): Operand | undefined {
    const head = /'([^']*)'|"([^"]*)"|([A-Za-z]\w*)\.([A-Za-z]\w*)/y;
    head.lastIndex = this.#index;
    const match = head.exec(this.#text);
    if (match === null) return undefined;
    const [, single, double, section = '', name = ''] = match;
    const quotedText = single ?? double;
    if (quotedText === undefined && !isSection(section)) return undefined;
    if (quotedText === undefined && !isField(section, name)) this.#report(this.#index, 'field', `${section}.${name}`);
    const field: Field = quotedText === undefined ? findField(section, name) : () => quotedText;
    this.#index = head.lastIndex;
    const modifiers = this.#parseModifiers();
    const hasDefault = modifiers.some(({ source }) => /^default\(/i.test(source));
    const isPresent = (values: FormatValues): boolean => hasDefault || hasValue(field(values));
    return { value: (values) => applyModifiers(field(values), modifiers, values), isPresent };
  }

  #parseModifiers(): readonly CompiledModifier[] {
    const modifiers: CompiledModifier[] = [];
    while (this.#text.startsWith('::', this.#index) && this.#findJoiner() === undefined && this.#budget.remaining > 0) {
      const start = this.#index + 2;
      const source = new ModifierSource(this.#text, start);
      const text = readModifier(source);
      this.#index = source.index;
      this.#budget.remaining -= text.length + modifierCost;
      const apply = compileModifier(text);
      if (apply !== undefined) modifiers.push({ source: text, apply });
      else this.#report(start, 'modifier', text);
    }
    return modifiers;
  }

  #findJoiner(): Joiner | undefined {
    const rest = this.#text.slice(this.#index, this.#index + 10).toLowerCase();
    return joiners.find((joinerName) => rest.startsWith(`::${joinerName}::`));
  }

  #parseChain(firstOperand: Operand): Operand | undefined {
    let result = firstOperand;
    for (let joiner = this.#findJoiner(); joiner !== undefined; joiner = this.#findJoiner()) {
      this.#index += joiner.length + 4;
      this.#skipSpaces();
      const nextOperand = this.#parseOperand();
      if (nextOperand === undefined) return undefined;
      result = combineOperands(joiner, result, nextOperand);
    }
    return result;
  }

  /**
   * Parses `["yes"||"no"||"absent"]`, which may contain expressions. Returns an empty list without choices, and
   * undefined for invalid ones.
   */
  #parseChoices(): readonly (readonly Part[])[] | undefined {
    if (this.#text[this.#index] !== '[') return [];
    this.#index += 1;
    const choices: (readonly Part[])[] = [];
    for (;;) {
      const start = this.#index + 1;
      const text = this.#parseBranch();
      if (text === undefined) return undefined;
      choices.push(compileParts(text, this.#depth + 1, this.#budget, this.#offset + start));
      if (!this.#text.startsWith('||', this.#index)) break;
      this.#index += 2;
    }
    if (this.#text[this.#index] !== ']' || choices.length > 3) return undefined;
    this.#index += 1;
    return choices;
  }

  /** Parses a quoted text. Quotes within braces do not end it. */
  #parseBranch(): string | undefined {
    if (this.#text[this.#index] !== '"') return undefined;
    let text = '';
    let depth = 0;
    const start = this.#index + 1;
    this.#budget.remaining -= Math.max(0, this.#text.indexOf('"', start) - start);
    for (let index = start; index < this.#text.length && this.#budget.remaining > 0; index += 1) {
      this.#budget.remaining -= 1;
      const letter = this.#text[index] ?? '';
      if (letter === '\\' && this.#text[index + 1] === '"') {
        text += '"';
        index += 1;
        continue;
      }
      if (letter === '"' && depth === 0) {
        this.#index = index + 1;
        return text;
      }
      if (letter === '{') depth += 1;
      else if (letter === '}') depth = Math.max(0, depth - 1);
      text += letter;
    }
    return undefined;
  }
}

/** Maps the index of each `{?` to the index of its end. */
function findOptionalEnds(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const openIndexes: number[] = [];
  for (const { 0: delimiter, index } of text.matchAll(/\{\?|\?\}/g)) {
    if (delimiter === '{?') openIndexes.push(index);
    else {
      const start = openIndexes.pop();
      if (start !== undefined) ends.set(start, index);
    }
  }
  return ends;
}

interface CompiledModifier {
  readonly source: string;
  readonly apply: Modifier;
}

function applyModifiers(field: FieldValue, modifiers: readonly CompiledModifier[], values: FormatValues): FieldValue {
  let value = removeLayoutMarks(field);
  for (const { apply } of modifiers) {
    const changed = apply(value, values);
    // Modifiers for another type of value have no effect.
    if (changed === undefined) continue;
    value = typeof changed === 'string' && changed.length > maxTextLength ? changed.slice(0, maxTextLength) : changed;
  }
  return value;
}

function removeLayoutMarks(value: FieldValue): FieldValue {
  if (typeof value === 'string') return value.replaceAll(layoutMarks, '');
  if (!Array.isArray(value)) return value;
  return (value as readonly string[]).map((item) => item.replaceAll(layoutMarks, ''));
}

function combineOperands(joiner: Joiner, leftOperand: Operand, rightOperand: Operand): Operand {
  const isPresent: Operand['isPresent'] =
    joiner === 'or'
      ? (values) => leftOperand.isPresent(values) || rightOperand.isPresent(values)
      : (values) => leftOperand.isPresent(values) && rightOperand.isPresent(values);
  const value: Operand['value'] = (values) => {
    const [leftValue, rightValue] = [leftOperand.value(values), rightOperand.value(values)];
    switch (joiner) {
      case 'and':
        return isTruthy(leftValue) ? rightValue : leftValue;
      case 'or':
        return isTruthy(leftValue) ? leftValue : rightValue;
      case 'xor':
        return isTruthy(leftValue) !== isTruthy(rightValue);
      case 'equal':
        return formatValue(leftValue) === formatValue(rightValue);
      case 'neq':
        return formatValue(leftValue) !== formatValue(rightValue);
      case 'left':
        return leftValue;
      case 'right':
        return rightValue;
    }
  };
  return { value, isPresent };
}

function renderChoice(value: FieldValue, choices: readonly (readonly Part[])[], values: FormatValues): string {
  const [whenTrue = [], whenFalse = [], whenAbsent = []] = choices;
  if (!hasValue(value)) return renderParts(whenAbsent, values);
  return renderParts(isTruthy(value) ? whenTrue : whenFalse, values);
}

function isTruthy(value: FieldValue): boolean {
  return hasValue(value) && value !== false && value !== 0;
}

function formatValue(value: FieldValue): string {
  if (value === null) return '';
  return Array.isArray(value) ? value.join(',') : String(value);
}
