import type { WrittenAction } from './action-input.ts';
import { refuse } from './refusals.ts';

const fields = ['action', 'label', 'url', 'method', 'body', 'intent', 'value'] as const;
const keyPattern = /[-.\w]+\s*=\s*/y;
const spaces = /\s*/y;

interface Section {
  readonly key: string;
  readonly value: string;
  /** Whether the action ends with it. */
  readonly last: boolean;
}

/**
 * The short form of actions: `;` parts actions and `,` their sections, which are `key=value`; the first three may do
 * without a key. Values may stand in quotes of either kind, in which a backslash escapes the quote.
 */
export function parseShortActions(text: string): WrittenAction[] {
  const actions: WrittenAction[] = [];
  let at = 0;

  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? '';
    at += found.length;
    return found;
  };
  const ends = (position: number): boolean =>
    position >= text.length || text[position] === ',' || text[position] === ';';
  const closeSection = (key: string, value: string): Section => {
    const last = at >= text.length || text[at] === ';';
    at += 1;
    return { key, value, last };
  };

  const readQuoted = (key: string, quote: string): Section => {
    const start = at;
    let value = '';
    for (at += 1; at < text.length; at += 1) {
      if (text[at] === '\\' && text[at + 1] === quote) {
        value += quote;
        at += 1;
      } else if (text[at] === quote) {
        at += 1;
        match(spaces);
        if (ends(at)) return closeSection(key, value);
        throw refuse('actions_invalid', `unexpected character '${text[at] ?? ''}' at position ${String(at)}`);
      } else {
        value += text[at] ?? '';
      }
    }
    throw refuse('actions_invalid', `unexpected end of input, quote started at position ${String(start)}`);
  };

  const readSection = (): Section => {
    match(spaces);
    const key = match(keyPattern).replace(/\s*=\s*$/, '');
    const quote = text[at];
    if (quote === '"' || quote === "'") return readQuoted(key, quote);
    const start = at;
    while (!ends(at)) at += 1;
    return closeSection(key, text.slice(start, at).trim());
  };

  while (at < text.length) {
    const action = emptyAction();
    for (let position = 0; ; position += 1) {
      const section = readSection();
      fill(action, position, section);
      match(spaces);
      if (section.last) break;
    }
    actions.push(action);
  }
  return actions;
}

function emptyAction(): WrittenAction {
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

function fill(action: WrittenAction, position: number, { key: written, value }: Section): void {
  const key = written === '' ? keyAt(position, action.action) : written;
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

function keyAt(position: number, action: string): string {
  if (position === 0) return 'action';
  if (position === 1) return 'label';
  if (position === 2 && (action === 'view' || action === 'http')) return 'url';
  if (position === 2 && action === 'copy') return 'value';
  return '';
}
