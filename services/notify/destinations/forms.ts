import type { DestinationForm, FilledForm, FormField, FormValues } from '../../contracts/notify/forms.ts';
import { kinds } from './catalogue.ts';
import { categoryOf } from './categories.ts';
import type { DestinationKind } from './destination.ts';
import type { GrammarField } from './form-definition.ts';
import { readPlace, secretsIn, writePlace } from './url-fields.ts';
import { parseDestinationUrl, writeDestinationUrl, type DestinationUrl } from './url.ts';

/** The forms of all kinds, in the order of the catalogue. */
export function describeForms(): DestinationForm[] {
  return kinds.map((kind) => ({
    scheme: schemeOf(kind),
    schemes: [...kind.protocols, ...kind.secureProtocols],
    title: kind.service,
    category: categoryOf(schemeOf(kind)),
    about: kind.form.about,
    fields: kind.form.fields.map(describeField),
  }));
}

/** A stored URL in the form of its kind, without its secrets; undefined when no kind serves it. */
export function fillForm(text: string): FilledForm | undefined {
  const url = parseDestinationUrl(text);
  const kind = url === undefined ? undefined : kindOf(url.scheme);
  if (url === undefined || kind === undefined) return undefined;
  const open = kind.form.unfold?.(url) ?? url;
  const values: FormValues = {};
  const set: string[] = [];
  for (const field of kind.form.fields) {
    const value = readPlace(open, field.at, kind);
    if (field.kind !== 'secret') values[field.name] = value;
    else if (value !== '') set.push(field.name);
  }
  return { scheme: schemeOf(kind), values, set };
}

/**
 * The URL a filled-in form stands for. `stored` is what it changes: secrets that were left empty and all that has no field
 * are taken from there, as long as the kind is the same.
 * @returns the URL, or what is wrong by field name.
 */
export function writeForm(
  { scheme, values }: { readonly scheme: string; readonly values: FormValues },
  stored?: string,
): { readonly url: string } | { readonly wrong: Readonly<Record<string, string>> } {
  const kind = kinds.find((each) => schemeOf(each) === scheme);
  if (kind === undefined) return { wrong: { scheme: 'This kind of destination is not served.' } };
  const before = stored === undefined ? undefined : parseDestinationUrl(stored);
  let url = before !== undefined && kindOf(before.scheme) === kind ? before : emptyUrl(schemeOf(kind));
  url = kind.form.unfold?.(url) ?? url;
  const wrong: Record<string, string> = {};
  for (const field of kind.form.fields) {
    const value = values[field.name];
    if (value === undefined || (field.kind === 'secret' && value === '')) {
      if (field.required && readPlace(url, field.at, kind) === '') wrong[field.name] = 'Fill this in.';
      continue;
    }
    const text = typeof value === 'string' ? value.trim() : (value ?? '');
    // What is not changed stays as it was typed, also where the form would write it differently.
    if (text !== '' && text === readPlace(url, field.at, kind)) continue;
    const complaint = misfit(field, text);
    if (complaint !== undefined) wrong[field.name] = complaint;
    else url = writePlace(url, field.at, text, kind);
  }
  if (url.password !== undefined && url.user === undefined) wrong['user'] ??= 'A password needs a user.';
  if (Object.keys(wrong).length > 0) return { wrong };
  return { url: writeDestinationUrl(kind.form.fold?.(url) ?? url) };
}

/** The secrets in a URL, decoded, so that they can be kept out of what a destination says. */
export function secretsOf(text: string): readonly string[] {
  const url = parseDestinationUrl(text);
  return url === undefined ? [] : secretsIn(url, kindOf(url.scheme));
}

function schemeOf({ protocols, secureProtocols }: DestinationKind): string {
  return protocols[0] ?? secureProtocols[0] ?? '';
}

function kindOf(scheme: string): DestinationKind | undefined {
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
}: GrammarField): FormField {
  return {
    ...{ name, label, kind, required, help },
    choices: choices.map(([value, words]) => [value, words]),
    initial: initial ?? (kind === 'switch' ? false : ''),
  };
}

function emptyUrl(scheme: string): DestinationUrl {
  const none = new Map<string, string>();
  return {
    ...{ scheme, user: undefined, password: undefined, host: '', port: undefined, path: [], rawPath: '' },
    ...{ query: none, headers: none, parameters: none, fields: none },
  };
}

function misfit(
  { kind, required = false, choices = [], at }: GrammarField,
  value: string | boolean,
): string | undefined {
  if (typeof value === 'boolean') return kind === 'switch' ? undefined : 'This is no switch.';
  if (value === '') return required ? 'Fill this in.' : undefined;
  if (/\p{Cc}/u.test(value)) return 'Write it in one line.';
  if (kind === 'choice' && !choices.some(([each]) => each === value)) return 'Choose one of the list.';
  if (at === 'host' && kind !== 'secret' && !/^(\[[0-9a-f:.%]+\]|[^\s/?@:[\]]+)$/i.test(value)) {
    return 'Write the name or the number of the host alone, without https:// and without a path.';
  }
  const number = Number(value);
  if (at === 'port' && !(Number.isInteger(number) && number >= 1 && number <= 65_535)) return 'A port is 1 to 65535.';
  return kind === 'number' && !Number.isFinite(number) ? 'This is no number.' : undefined;
}
