import * as m from '#messages/notify-forms';
import type { Text } from '../../contracts/text.ts';
import type { FormFieldDefinition } from './form-definition.ts';

/** Fields that many forms share. */
export const hostField: FormFieldDefinition = {
  name: 'host',
  label: m.host,
  kind: 'text',
  location: 'host',
  required: true,
};
export const portField: FormFieldDefinition = {
  name: 'port',
  label: m.port,
  kind: 'number',
  location: 'port',
  help: m.defaultPortHelp,
};
export const secureField: FormFieldDefinition = {
  name: 'secure',
  label: m.encrypted,
  kind: 'switch',
  location: 'secure',
  initial: true,
};
export const userField: FormFieldDefinition = { name: 'user', label: m.user, kind: 'text', location: 'user' };
export const passwordField: FormFieldDefinition = {
  name: 'password',
  label: m.password,
  kind: 'secret',
  location: 'password',
};

/** Host, port and encryption of a self-hosted server. */
export const serverFields: readonly FormFieldDefinition[] = [hostField, portField, secureField];

/** Field for kinds that support several text formats. */
export const formatField: FormFieldDefinition = {
  name: 'format',
  label: m.format,
  kind: 'choice',
  location: 'query:format',
  help: m.formatHelp,
  choices: [
    ['', m.plainText],
    ['markdown', 'Markdown'],
    ['html', 'HTML'],
  ],
};

/** Builds a text field; `help` explains where its value is found. */
export function textField(
  name: string,
  label: Text,
  location: FormFieldDefinition['location'],
  help: Text = '',
): FormFieldDefinition {
  return { name, label, kind: 'text', location: location, help };
}

/** Builds a field whose value never leaves the host. */
export function secretField(
  name: string,
  label: Text,
  location: FormFieldDefinition['location'],
  help: Text = '',
): FormFieldDefinition {
  return { name, label, kind: 'secret', location: location, help };
}

/** Marks a field as required. */
export function requiredField(field: FormFieldDefinition): FormFieldDefinition {
  return { ...field, required: true };
}

/** Builds a field with several values; the first is the default of the URL. */
export function choiceField(
  name: string,
  label: Text,
  location: FormFieldDefinition['location'],
  choices: readonly (readonly [value: string, label: Text])[],
  help: Text = '',
): FormFieldDefinition {
  return { name, label, kind: 'choice', location: location, choices, help };
}

/** Builds a field with two states. */
export function switchField(
  name: string,
  label: Text,
  location: FormFieldDefinition['location'],
  help: Text = '',
): FormFieldDefinition {
  return { name, label, kind: 'switch', location: location, help };
}
