import type { JsonSchema, SettingsField } from '../../../../services/contracts/control/settings.ts';
import { amountOf, type Amount } from './amount.ts';
import { quantityOf, type Quantity } from './quantity.ts';

/** A value, and the words for it. */
type Option = readonly [value: string, words: string];

/** How a setting is shown, chosen from its schema. */
export type Control =
  /** `example`: what it looks like, shown while it is empty. */
  | { readonly kind: 'text'; readonly nullable: boolean; readonly example: string }
  | { readonly kind: 'folder' }
  | { readonly kind: 'secret' }
  /** `unit`: what it counts, such as `days`; empty where its title says so. */
  | { readonly kind: 'number'; readonly nullable: boolean; readonly unit: string }
  /** A number of milliseconds or bytes, typed in seconds or MiB. */
  | { readonly kind: 'amount'; readonly amount: Amount }
  /** A text such as `12h`, as a number and a unit. */
  | { readonly kind: 'quantity'; readonly quantity: Quantity }
  | { readonly kind: 'switch' }
  | { readonly kind: 'choice'; readonly options: readonly Option[] }
  /** Any of these. */
  | { readonly kind: 'choices'; readonly options: readonly Option[] }
  /** A list of texts or of numbers, one a line. */
  | { readonly kind: 'lines'; readonly numbers: boolean; readonly example?: string }
  | { readonly kind: 'hours' }
  | { readonly kind: 'rows'; readonly columns: readonly Column[] }
  | { readonly kind: 'json' };

/** One field of the objects in a list. */
export interface Column {
  readonly name: string;
  readonly title: string;
  readonly schema: JsonSchema;
  readonly control: Control;
}

/** The control for a value of this schema; what no other control fits is JSON text. */
export function controlFor(schema: JsonSchema, root: JsonSchema = schema): Control {
  const branches = variants(schema, root);
  const nullable = branches.some(({ type }) => type === 'null');
  const [only, ...others] = branches.filter(({ type }) => type !== 'null');
  // Texts of several forms, such as an address or a network, are typed as one.
  const areTexts = [only, ...others].every((branch) => branch?.['type'] === 'string' && !('enum' in branch));
  if (!only || (others.length > 0 && !areTexts)) return { kind: 'json' };
  if (schema['secret'] === true || only['secret'] === true)
    return only['type'] === 'string' ? { kind: 'secret' } : { kind: 'json' };
  const { type, enum: options } = only;
  if (Array.isArray(options) && options.every((option) => typeof option === 'string') && !nullable) {
    return { kind: 'choice', options: inWords(options, schema) };
  }
  if (type === 'string' && schema['folder'] === true) return { kind: 'folder' };
  if (type === 'string') {
    const quantity = nullable ? undefined : quantityOf(schema);
    return quantity === undefined
      ? { kind: 'text', nullable, example: typeof schema['example'] === 'string' ? schema['example'] : '' }
      : { kind: 'quantity', quantity };
  }
  if (type === 'number' || type === 'integer') {
    const amount = nullable ? undefined : amountOf(schema);
    if (amount !== undefined) return { kind: 'amount', amount };
    return { kind: 'number', nullable, unit: typeof schema['unit'] === 'string' ? schema['unit'] : '' };
  }
  if (type === 'boolean' && !nullable) return { kind: 'switch' };
  if (type === 'array' && schema['hours'] === true) return { kind: 'hours' };
  if (type === 'array' && !nullable) return listControl(only, root);
  return { kind: 'json' };
}

function listControl(schema: JsonSchema, root: JsonSchema): Control {
  const items = record(schema['items']);
  if (!items) return { kind: 'json' };
  const control = controlFor(items, root);
  if (control.kind === 'choice') {
    return {
      kind: 'choices',
      options: inWords(
        control.options.map(([value]) => value),
        schema,
      ),
    };
  }
  if (control.kind === 'text' && !control.nullable)
    return { kind: 'lines', numbers: false, ...(control.example !== '' && { example: control.example }) };
  if (control.kind === 'number' && !control.nullable) return { kind: 'lines', numbers: true };
  const properties = record(variants(items, root)[0]?.['properties']);
  if (!properties) return { kind: 'json' };
  const columns = Object.entries(properties).map(([name, value]): Column => {
    const property = record(value) ?? {};
    const title = typeof property['title'] === 'string' ? property['title'] : name;
    return { name, title, schema: property, control: controlFor(property, root) };
  });
  const simple =
    columns.length > 0 &&
    columns.length <= 6 &&
    columns.every((column) => !['rows', 'choices', 'json'].includes(column.control.kind));
  return simple ? { kind: 'rows', columns } : { kind: 'json' };
}

/** Where some have words they alone are offered: others are older ways to write them. */
function inWords(values: readonly string[], { choices }: JsonSchema): readonly Option[] {
  const words = record(choices);
  if (words === undefined) return values.map((value) => [value, value]);
  return Object.entries(words).flatMap(([value, text]) => (values.includes(value) ? [[value, String(text)]] : []));
}

/** The branches a value may fit, references followed. */
function variants(schema: JsonSchema, root: JsonSchema, depth = 0): readonly JsonSchema[] {
  if (depth > 8) return [];
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const target = follow(reference, root);
    return target ? variants({ ...target, ...without(schema, '$ref') }, root, depth + 1) : [];
  }
  const branches = schema['anyOf'] ?? schema['oneOf'];
  const { type } = schema;
  if (Array.isArray(type)) return type.map((one: unknown) => ({ ...schema, type: one }));
  if (!Array.isArray(branches)) return [schema];
  return branches.flatMap((branch) => variants(record(branch) ?? {}, root, depth + 1));
}

function follow(reference: string, root: JsonSchema): JsonSchema | undefined {
  let node: unknown = root;
  for (const part of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) node = record(node)?.[part];
  return record(node);
}

function without(schema: JsonSchema, key: string): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key));
}

/** A plain object, or undefined. */
export function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** Whether the host shows `{set: true}` in place of a secret here. */
export function isHiddenSecret(value: unknown): boolean {
  return record(value)?.['set'] === true;
}

/** What a text box of a number means: what is no number goes to the host as it is, which says what is wrong with it. */
export function numberFrom(text: string, nullable: boolean): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return nullable ? null : '';
  const value = Number(trimmed);
  return Number.isNaN(value) ? trimmed : value;
}

/** The messages that belong to a field: its own and those of what is inside it, by their place. */
export function errorsOf(
  field: Pick<SettingsField, 'name' | 'path'>,
  errors: Readonly<Record<string, string>>,
): string {
  return Object.entries(errors)
    .flatMap(([path, message]) => {
      if (path === field.path || path === field.name) return [message];
      return path.startsWith(`${field.path}.`) ? [`${place(path.slice(field.path.length + 1))}: ${message}`] : [];
    })
    .join(' ');
}

/** `0.name` as people count: `row 1, name`. */
function place(path: string): string {
  return path
    .split('.')
    .map((part) => (/^\d+$/.test(part) ? `row ${String(Number(part) + 1)}` : part))
    .join(', ');
}

/** What a new row begins with: each column's default. */
export function emptyRow(columns: readonly Column[]): Record<string, unknown> {
  return Object.fromEntries(
    columns.map(({ name, schema, control }) => {
      if ('default' in schema) return [name, schema['default']];
      if (control.kind === 'switch') return [name, false];
      if (control.kind === 'lines') return [name, []];
      return [name, control.kind === 'choice' ? control.options[0]?.[0] : ''];
    }),
  );
}
