import type { ActionInput } from './action-input.ts';
import { refuse } from './refusals.ts';

const fields = ['action', 'label', 'url', 'method', 'body', 'intent', 'value'] as const;
const keyPattern = /[-.\w]+\s*=\s*/y;
const spaces = /\s*/y;

interface Section {
  readonly key: string;
  readonly value: string;
  /** True when the action ends with this section. */
  readonly isLast: boolean;
}

/**
 * Parses the short form of actions: `;` separates actions and `,` their sections, written `key=value`; the first three
 * need no key. Values may be quoted with either quote, in which a backslash escapes the quote.
 */
export function parseShortActions(text: string): ActionInput[] {
  const actions: ActionInput[] = [];
  let index = 0;

  const match = (pattern: RegExp): string => {
    pattern.lastIndex = index;
    const matched = pattern.exec(text)?.[0] ?? '';
    index += matched.length;
    return matched;
  };
  const isEnd = (position: number): boolean =>
    position >= text.length || text[position] === ',' || text[position] === ';';
  const closeSection = (key: string, value: string): Section => {
    const isLast = index >= text.length || text[index] === ';';
    index += 1;
    return { key, value, isLast };
  };

  const readQuoted = (key: string, quote: string): Section => {
    const start = index;
    let value = '';
    for (index += 1; index < text.length; index += 1) {
      if (text[index] === '\\' && text[index + 1] === quote) {
        value += quote;
        index += 1;
      } else if (text[index] === quote) {
        index += 1;
        match(spaces);
        if (isEnd(index)) return closeSection(key, value);
        throw refuse('actions_invalid', `unexpected character '${text[index] ?? ''}' at position ${String(index)}`);
      } else {
        value += text[index] ?? '';
      }
    }
    throw refuse('actions_invalid', `unexpected end of input, quote started at position ${String(start)}`);
  };

  const readSection = (): Section => {
    match(spaces);
    const key = match(keyPattern).replace(/\s*=\s*$/, '');
    const quote = text[index];
    if (quote === '"' || quote === "'") return readQuoted(key, quote);
    const start = index;
    while (!isEnd(index)) index += 1;
    return closeSection(key, text.slice(start, index).trim());
  };

  while (index < text.length) {
    const action = emptyAction();
    for (let position = 0; ; position += 1) {
      const section = readSection();
      setField(action, position, section);
      match(spaces);
      if (section.isLast) break;
    }
    actions.push(action);
  }
  return actions;
}

function emptyAction(): ActionInput {
  return {
    action: '',
    label: '',
    clear: false,
    url: '',
    method: '',
    headers: {},
    body: '',
    intent: '',
    extras: {},
    value: '',
  };
}

function setField(action: ActionInput, position: number, { key: explicitKey, value }: Section): void {
  const key = explicitKey === '' ? getDefaultKey(position, action.action) : explicitKey;
  if (key === '') throw refuse('actions_invalid', `term '${value}' unknown`);
  if (key.startsWith('headers.')) {
    action.headers[key.slice('headers.'.length)] = value;
  } else if (key.startsWith('extras.')) {
    action.extras[key.slice('extras.'.length)] = value;
  } else if (key.toLowerCase() === 'clear') {
    if (!/^(true|yes|1|false|no|0)$/i.test(value)) {
      throw refuse(
        'actions_invalid',
        `parameter 'clear' cannot be '${value}', only boolean values are allowed (true/yes/1/false/no/0)`,
      );
    }
    action.clear = /^(true|yes|1)$/i.test(value);
  } else {
    const field = fields.find((name) => name === key.toLowerCase());
    if (field === undefined) throw refuse('actions_invalid', `key '${key}' unknown`);
    action[field] = value;
  }
}

function getDefaultKey(position: number, action: string): string {
  if (position === 0) return 'action';
  if (position === 1) return 'label';
  if (position === 2 && (action === 'view' || action === 'http')) return 'url';
  if (position === 2 && action === 'copy') return 'value';
  return '';
}
