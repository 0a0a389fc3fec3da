// Reads messages in the syntax of ICU MessageFormat.
import { parse, TYPE, type MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import type { ParsedMessage } from '../messages/runtime.ts';

/** TypeScript types of the parameters of a message, in the order of their first use, and the names of its tags. */
export interface MessageSignature {
  readonly values: Readonly<Record<string, 'MessageValue' | 'number' | 'string'>>;
  readonly tags: readonly string[];
}

/**
 * Parses a message.
 *
 * @throws Error with the text when it is malformed.
 */
export function parseMessage(text: string): MessageFormatElement[] {
  try {
    return parse(text, { captureLocation: false, requiresOtherClause: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`malformed message ${JSON.stringify(text)}: ${reason}`, { cause: error });
  }
}

/** Returns what the generated modules contain: text when the message has no parameters and tags, otherwise its elements. */
export function toParsedMessage(text: string): ParsedMessage {
  const elements = parseMessage(text);
  const literals = elements.flatMap((element) => (element.type === TYPE.literal ? [element.value] : []));
  return literals.length === elements.length ? literals.join('') : elements;
}

/**
 * Returns the parameters and tags of a message.
 *
 * @throws Error for dates and times, which pages format before, in the time zone that applies.
 */
export function describeMessage(text: string): MessageSignature {
  const values: Record<string, 'MessageValue' | 'number' | 'string'> = {};
  const tags = new Set<string>();
  visit(parseMessage(text), (element) => {
    if (element.type === TYPE.tag) tags.add(element.value);
    else if (element.type === TYPE.plural || element.type === TYPE.number) values[element.value] = 'number';
    else if (element.type === TYPE.select) values[element.value] ??= 'string';
    else if (element.type === TYPE.argument) values[element.value] ??= 'MessageValue';
    else if (element.type === TYPE.date || element.type === TYPE.time)
      throw new Error(`message with a date: ${text}. Format dates before, in the time zone that applies.`);
  });
  return { values, tags: [...tags] };
}

/** Returns the named styles of numbers, dates and times, such as `percent`. The runtime knows only skeletons. */
export function findNamedFormats(text: string): readonly string[] {
  const styles: string[] = [];
  visit(parseMessage(text), (element) => {
    const isFormat = element.type === TYPE.number || element.type === TYPE.date || element.type === TYPE.time;
    if (isFormat && typeof element.style === 'string') styles.push(element.style);
  });
  return styles;
}

/** Returns the literal parts of a message, each with the placeholder `X` for the parameters around it. */
export function listLiterals(text: string): readonly string[] {
  const literals: string[] = [];
  const collect = (elements: readonly MessageFormatElement[]): string => {
    const parts = elements.map((element) => {
      if (element.type === TYPE.literal) return element.value;
      if (element.type === TYPE.tag) return collect(element.children);
      if (element.type === TYPE.plural || element.type === TYPE.select)
        literals.push(...Object.values(element.options).map(({ value }) => collect(value)));
      return 'X';
    });
    return parts.join('');
  };
  return [collect(parseMessage(text)), ...literals];
}

/** Returns the cases of each parameter that a message selects by, as `parameter=case`. */
export function listSelectCases(text: string): ReadonlySet<string> {
  const cases = new Set<string>();
  visit(parseMessage(text), (element) => {
    if (element.type !== TYPE.select) return;
    for (const name of Object.keys(element.options)) cases.add(`${element.value}=${name}`);
  });
  return cases;
}

function visit(elements: readonly MessageFormatElement[], see: (element: MessageFormatElement) => void): void {
  for (const element of elements) {
    see(element);
    if (element.type === TYPE.tag) visit(element.children, see);
    if (element.type === TYPE.plural || element.type === TYPE.select) {
      for (const { value } of Object.values(element.options)) visit(value, see);
    }
  }
}
