import type { GrammarField } from './form-definition.ts';

/** Fields that many forms share. */
export const hostField: GrammarField = { name: 'host', label: 'Host', kind: 'text', at: 'host', required: true };
export const portField: GrammarField = {
  ...{ name: 'port', label: 'Port', kind: 'number', at: 'port' },
  help: 'Empty: the usual one.',
};
export const secureField: GrammarField = {
  ...{ name: 'secure', label: 'Encrypted (https)', kind: 'switch', at: 'secure' },
  initial: true,
};
export const userField: GrammarField = { name: 'user', label: 'User', kind: 'text', at: 'user' };
export const passwordField: GrammarField = { name: 'password', label: 'Password', kind: 'secret', at: 'password' };

/** Host, port and encryption of a server of one's own. */
export const serverFields: readonly GrammarField[] = [hostField, portField, secureField];

/** The fields of kinds that show text in one of several formats. */
export const formatField: GrammarField = {
  name: 'format',
  label: 'Format',
  kind: 'choice',
  at: 'query:format',
  help: 'How the text is written when it gets there.',
  choices: [
    ['', 'Plain text'],
    ['markdown', 'Markdown'],
    ['html', 'HTML'],
  ],
};

/** A text field with a sentence about where its value is found. */
export function textField(name: string, label: string, at: GrammarField['at'], help = ''): GrammarField {
  return { name, label, kind: 'text', at, help };
}

/** A field whose value never leaves the host. */
export function secretField(name: string, label: string, at: GrammarField['at'], help = ''): GrammarField {
  return { name, label, kind: 'secret', at, help };
}

/** The same field, to be filled in. */
export function needed(field: GrammarField): GrammarField {
  return { ...field, required: true };
}

/** One of several values; the first is what a URL means that says nothing. */
export function choiceField(
  name: string,
  label: string,
  at: GrammarField['at'],
  choices: readonly (readonly [string, string])[],
  help = '',
): GrammarField {
  return { name, label, kind: 'choice', at, choices, help };
}

/** Yes or no. */
export function switchField(name: string, label: string, at: GrammarField['at'], help = ''): GrammarField {
  return { name, label, kind: 'switch', at, help };
}
