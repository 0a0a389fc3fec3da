import type { DestinationForm, FilledForm, FormField, FormValues } from '../../contracts/notify-forms.ts';
import { kinds } from './catalogue.ts';
import type { DestinationKind } from './destination.ts';
import type { FieldPlace, GrammarField } from './grammar.ts';
import { encodePart, parseDestinationUrl, writeDestinationUrl, type DestinationUrl } from './url.ts';

/** The forms of all kinds, in the order of the catalogue. */
export function describeForms(): DestinationForm[] {
  return kinds.map((kind) => ({
    scheme: schemeOf(kind),
    title: kind.service,
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
  const kind = url === undefined ? undefined : kindOf(url.scheme);
  if (url === undefined) return [];
  const open = kind?.form.unfold?.(url) ?? url;
  const fields = (kind?.form.fields ?? []).filter((field) => field.kind === 'secret');
  const named = kind === undefined ? [] : fields.map(({ at }) => String(readPlace(open, at, kind)));
  const basic = url.user === undefined ? [] : [Buffer.from(`${url.user}:${url.password ?? ''}`).toString('base64')];
  const all = [...named, url.password ?? '', ...url.headers.values(), ...url.parameters.values(), ...basic];
  return [...new Set(all.flatMap((each) => [each, encodePart(each)]))].filter((each) => each.length > 2);
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
  if (at === 'host' && !/^(\[[0-9a-f:.%]+\]|[^\s/?@:[\]]+)$/i.test(value)) {
    return 'Write the name or the number of the host alone, without https:// and without a path.';
  }
  const number = Number(value);
  if (at === 'port' && !(Number.isInteger(number) && number >= 1 && number <= 65_535)) return 'A port is 1 to 65535.';
  return kind === 'number' && !Number.isFinite(number) ? 'This is no number.' : undefined;
}

function readPlace(url: DestinationUrl, at: FieldPlace, kind: DestinationKind): string | boolean {
  switch (at) {
    case 'secure':
      return kind.secureProtocols.includes(url.scheme);
    case 'user':
    case 'password':
      return url[at] ?? '';
    case 'host':
      return url.host;
    case 'port':
      return url.port === undefined ? '' : String(url.port);
    case 'path':
      return url.rawPath;
    case 'targets':
      return url.path.join(', ');
    default:
      return named(url, at).pairs.get(named(url, at).name) ?? '';
  }
}

function writePlace(
  url: DestinationUrl,
  at: FieldPlace,
  value: string | boolean,
  kind: DestinationKind,
): DestinationUrl {
  const text = String(value);
  const maybe = text === '' ? undefined : text;
  switch (at) {
    case 'secure':
      return { ...url, scheme: (value === true ? kind.secureProtocols : kind.protocols)[0] ?? url.scheme };
    case 'user':
      return { ...url, user: maybe, ...(maybe === undefined ? { password: undefined } : {}) };
    case 'password':
      return { ...url, password: maybe };
    case 'host':
      return { ...url, host: text };
    case 'port':
      return { ...url, port: maybe === undefined ? undefined : Number(text) };
    case 'path':
      return withPath(url, pathOf(text));
    case 'targets': {
      const targets = text.split(/[\s,]+/).filter((each) => each !== '');
      return withPath(url, targets.map((each) => `/${encodePart(each)}`).join(''));
    }
    default: {
      const { group, name, pairs } = named(url, at);
      const next = new Map(pairs);
      if (maybe === undefined || value === false) next.delete(name);
      else next.set(name, value === true ? 'yes' : text);
      return { ...url, [group]: next };
    }
  }
}

function named(url: DestinationUrl, at: string) {
  const header = at.startsWith('header:');
  const name = at.slice(at.indexOf(':') + 1);
  // Names of headers are read in any case.
  const stored = header ? [...url.headers.keys()].find((each) => each.toLowerCase() === name.toLowerCase()) : undefined;
  const group: 'headers' | 'query' = header ? 'headers' : 'query';
  return { group, name: stored ?? name, pairs: url[group] };
}

/** As typed, but for what would end the path. */
function pathOf(text: string): string {
  if (text === '') return '';
  const path = text.replace(/[\s?]/g, encodePart);
  return path.startsWith('/') ? path : `/${path}`;
}

function withPath(url: DestinationUrl, rawPath: string): DestinationUrl {
  const path = parseDestinationUrl(`x://h${rawPath}`)?.path ?? [];
  return { ...url, rawPath, path };
}
