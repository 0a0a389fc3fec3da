import * as problems from '#messages/notify-problems';
import type { DestinationForm, FilledForm, FormField, FormValues } from '../../contracts/notify/forms.ts';
import { readText } from '../../contracts/text.ts';
import { kinds } from './catalogue.ts';
import { getCategory } from './categories.ts';
import type { DestinationKind } from './destination.ts';
import type { FormFieldDefinition } from './form-definition.ts';
import { readUrlField, secretsIn, writeUrlField } from './url-fields.ts';
import { parseDestinationUrl, writeDestinationUrl, type DestinationUrl } from './url.ts';

/** Returns the forms of all kinds in the order of the catalogue, in the current language. */
export function describeForms(): DestinationForm[] {
  return kinds.map((kind) => ({
    scheme: getScheme(kind),
    schemes: [...kind.protocols, ...kind.secureProtocols],
    title: kind.service,
    category: getCategory(getScheme(kind)),
    about: readText(kind.form.about),
    fields: kind.form.fields.map(describeField),
  }));
}

/** Returns the form values of a stored URL without its secrets; undefined if no native kind matches. */
export function fillForm(text: string): FilledForm | undefined {
  const url = parseDestinationUrl(text);
  const kind = url === undefined ? undefined : findKind(url.scheme);
  if (url === undefined || kind === undefined) return undefined;
  const unfolded = kind.form.unfold?.(url) ?? url;
  const values: FormValues = {};
  const set: string[] = [];
  for (const field of kind.form.fields) {
    const value = readUrlField(unfolded, field.location, kind);
    if (field.kind !== 'secret') values[field.name] = value;
    else if (value !== '') set.push(field.name);
  }
  return { scheme: getScheme(kind), values, set };
}

/**
 * Builds the URL of a completed form. If `stored` is of the same kind, empty secrets and all parts without a field
 * are taken from it.
 *
 * @returns the URL, or error messages by field name.
 */
export function writeForm(
  { scheme, values }: { readonly scheme: string; readonly values: FormValues },
  storedText?: string,
): { readonly url: string } | { readonly wrong: Readonly<Record<string, string>> } {
  const kind = kinds.find((each) => getScheme(each) === scheme);
  if (kind === undefined) return { wrong: { scheme: problems.kindUnsupported() } };
  const storedUrl = storedText === undefined ? undefined : parseDestinationUrl(storedText);
  let url = storedUrl !== undefined && findKind(storedUrl.scheme) === kind ? storedUrl : emptyUrl(getScheme(kind));
  url = kind.form.unfold?.(url) ?? url;
  const errors: Record<string, string> = {};
  for (const field of kind.form.fields) {
    const value = values[field.name];
    if (value === undefined || (field.kind === 'secret' && value === '')) {
      if (field.required && readUrlField(url, field.location, kind) === '')
        errors[field.name] = problems.valueMissing();
      continue;
    }
    const text = typeof value === 'string' ? value.trim() : (value ?? '');
    // An unchanged value keeps its typed form, even if the form would write it differently.
    if (text !== '' && text === readUrlField(url, field.location, kind)) continue;
    const problem = validateField(field, text);
    if (problem !== undefined) errors[field.name] = problem;
    else url = writeUrlField(url, field.location, text, kind);
  }
  if (url.password !== undefined && url.user === undefined) errors['user'] ??= problems.userMissing();
  if (Object.keys(errors).length > 0) return { wrong: errors };
  return { url: writeDestinationUrl(kind.form.fold?.(url) ?? url) };
}

/** Returns the decoded secrets of a URL, so that they can be removed from texts of the destination. */
export function listSecrets(text: string): readonly string[] {
  const url = parseDestinationUrl(text);
  return url === undefined ? [] : secretsIn(url, findKind(url.scheme));
}

function getScheme({ protocols, secureProtocols }: DestinationKind): string {
  return protocols[0] ?? secureProtocols[0] ?? '';
}

function findKind(scheme: string): DestinationKind | undefined {
  return kinds.find(({ protocols, secureProtocols }) => [...protocols, ...secureProtocols].includes(scheme));
}

function describeField({
  name,
  label,
  kind,
  required = false,
  help = '',
  choices = [],
  initial,
}: FormFieldDefinition): FormField {
  return {
    name,
    label: readText(label),
    kind,
    required,
    help: readText(help),
    choices: choices.map(([value, choice]) => [value, readText(choice)]),
    initial: initial ?? (kind === 'switch' ? false : ''),
  };
}

function emptyUrl(scheme: string): DestinationUrl {
  const emptyMap = new Map<string, string>();
  return {
    scheme,
    user: undefined,
    password: undefined,
    host: '',
    port: undefined,
    path: [],
    rawPath: '',
    query: emptyMap,
    headers: emptyMap,
    parameters: emptyMap,
    fields: emptyMap,
  };
}

function validateField(
  { kind, required = false, choices = [], location }: FormFieldDefinition,
  value: string | boolean,
): string | undefined {
  if (typeof value === 'boolean') return kind === 'switch' ? undefined : problems.switchInvalid();
  if (value === '') return required ? problems.valueMissing() : undefined;
  if (/\p{Cc}/u.test(value)) return problems.lineBreak();
  if (kind === 'choice' && !choices.some(([each]) => each === value)) return problems.choiceInvalid();
  if (location === 'host' && kind !== 'secret' && !/^(\[[0-9a-f:.%]+\]|[^\s/?@:[\]]+)$/i.test(value)) {
    return problems.hostInvalid();
  }
  const number = Number(value);
  if (location === 'port' && !(Number.isInteger(number) && number >= 1 && number <= 65_535))
    return problems.portInvalid();
  return kind === 'number' && !Number.isFinite(number) ? problems.numberInvalid() : undefined;
}
