import * as m from '#messages/settings-form';
import type { JsonSchema, SettingsField } from '../../../../../services/contracts/control/settings.ts';
import { parseAmount, type Amount } from './amount.ts';
import { parseQuantityKind, type Quantity } from './quantity.ts';
import { isRecord } from '../../../../../services/contracts/is-record.ts';
import { joinSentences } from '../../../parts/text/join-sentences.ts';

/** A value and its label. */
type Option = readonly [value: string, words: string];

/** Kind of the control for a setting, derived from its schema. */
export type Control =
  /** `example` is the placeholder. */
  | { readonly kind: 'text'; readonly nullable: boolean; readonly example: string }
  | { readonly kind: 'folder' }
  | { readonly kind: 'secret' }
  /** `unit` is the unit of the value, such as `days`; empty when the title names it. */
  | { readonly kind: 'number'; readonly nullable: boolean; readonly unit: string }
  /** Milliseconds or bytes, edited in seconds or MiB. */
  | { readonly kind: 'amount'; readonly amount: Amount }
  /** A text such as `12h`, edited as a number and a unit. */
  | { readonly kind: 'quantity'; readonly quantity: Quantity }
  | { readonly kind: 'switch' }
  | { readonly kind: 'choice'; readonly options: readonly Option[] }
  /** Any of several values. */
  | { readonly kind: 'choices'; readonly options: readonly Option[] }
  /** A list of texts or numbers, one in each line. */
  | { readonly kind: 'lines'; readonly numbers: boolean; readonly example?: string }
  | { readonly kind: 'hours' }
  | { readonly kind: 'rows'; readonly columns: readonly Column[] }
  | { readonly kind: 'json' };

/** A field of the objects in a list. */
export interface Column {
  readonly name: string;
  readonly title: string;
  readonly schema: JsonSchema;
  readonly control: Control;
}

/** Returns the control for a schema; JSON is used where no other control is possible. */
export function getControl(schema: JsonSchema, root: JsonSchema = schema): Control {
  const branches = resolveVariants(schema, root);
  const nullable = branches.some(({ type }) => type === 'null');
  const [schemaBranch, ...otherBranches] = branches.filter(({ type }) => type !== 'null');
  // Strings with several formats, such as an address or a network, are edited as one text.
  const areTexts = [schemaBranch, ...otherBranches].every(
    (branch) => branch?.['type'] === 'string' && !('enum' in branch),
  );
  if (!schemaBranch || (otherBranches.length > 0 && !areTexts)) return { kind: 'json' };
  if (schema['secret'] === true || schemaBranch['secret'] === true)
    return schemaBranch['type'] === 'string' ? { kind: 'secret' } : { kind: 'json' };
  const { type, enum: options } = schemaBranch;
  if (Array.isArray(options) && options.every((option) => typeof option === 'string') && !nullable) {
    return { kind: 'choice', options: toOptions(options, schema) };
  }
  if (type === 'string' && schema['folder'] === true) return { kind: 'folder' };
  if (type === 'string') {
    const quantity = nullable ? undefined : parseQuantityKind(schema);
    return quantity === undefined
      ? { kind: 'text', nullable, example: typeof schema['example'] === 'string' ? schema['example'] : '' }
      : { kind: 'quantity', quantity };
  }
  if (type === 'number' || type === 'integer') {
    const amount = nullable ? undefined : parseAmount(schema);
    if (amount !== undefined) return { kind: 'amount', amount };
    return { kind: 'number', nullable, unit: getUnitLabel(schema['unit']) };
  }
  if (type === 'boolean' && !nullable) return { kind: 'switch' };
  if (type === 'array' && schema['hours'] === true) return { kind: 'hours' };
  if (type === 'array' && !nullable) return listControl(schemaBranch, root);
  return { kind: 'json' };
}

/** Units that are words; others, such as `MiB`, are the same in every language. */
const unitLabels: Readonly<Record<string, () => string>> = {
  days: m.days,
  files: m.files,
  minutes: m.minutes,
  seconds: m.seconds,
};

function getUnitLabel(unit: unknown): string {
  return typeof unit === 'string' ? (unitLabels[unit]?.() ?? unit) : '';
}

function listControl(schema: JsonSchema, root: JsonSchema): Control {
  const items = findRecord(schema['items']);
  if (!items) return { kind: 'json' };
  const control = getControl(items, root);
  if (control.kind === 'choice') {
    return {
      kind: 'choices',
      options: toOptions(
        control.options.map(([value]) => value),
        schema,
      ),
    };
  }
  if (control.kind === 'text' && !control.nullable)
    return { kind: 'lines', numbers: false, ...(control.example !== '' && { example: control.example }) };
  if (control.kind === 'number' && !control.nullable) return { kind: 'lines', numbers: true };
  const properties = findRecord(resolveVariants(items, root)[0]?.['properties']);
  if (!properties) return { kind: 'json' };
  const columns = Object.entries(properties).map(([name, value]): Column => {
    const property = findRecord(value) ?? {};
    const title = typeof property['title'] === 'string' ? property['title'] : name;
    return { name, title, schema: property, control: getControl(property, root) };
  });
  const simple =
    columns.length > 0 &&
    columns.length <= 6 &&
    columns.every((column) => !['rows', 'choices', 'json'].includes(column.control.kind));
  return simple ? { kind: 'rows', columns } : { kind: 'json' };
}

/** Returns the options. If only some values have labels, only those are offered: the others are older notations. */
function toOptions(values: readonly string[], { choices }: JsonSchema): readonly Option[] {
  const optionLabels = findRecord(choices);
  if (optionLabels === undefined) return values.map((value) => [value, value]);
  return Object.entries(optionLabels).flatMap(([value, text]) =>
    values.includes(value) ? [[value, String(text)]] : [],
  );
}

/** Returns the alternatives of a schema with references resolved. */
function resolveVariants(schema: JsonSchema, root: JsonSchema, depth = 0): readonly JsonSchema[] {
  if (depth > 8) return [];
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const target = resolveReference(reference, root);
    return target ? resolveVariants({ ...target, ...omitKey(schema, '$ref') }, root, depth + 1) : [];
  }
  const branches = schema['anyOf'] ?? schema['oneOf'];
  const { type } = schema;
  if (Array.isArray(type)) return type.map((typeName: unknown) => ({ ...schema, type: typeName }));
  if (!Array.isArray(branches)) return [schema];
  return branches.flatMap((branch) => resolveVariants(findRecord(branch) ?? {}, root, depth + 1));
}

function resolveReference(reference: string, root: JsonSchema): JsonSchema | undefined {
  let node: unknown = root;
  for (const part of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) node = findRecord(node)?.[part];
  return findRecord(node);
}

function omitKey(schema: JsonSchema, key: string): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key));
}

/** Returns a plain object, otherwise undefined. */
export function findRecord(value: unknown): Record<string, unknown> | undefined {
  return isRecord(value) ? value : undefined;
}

/** True where the host sends `{set: true}` instead of a secret. */
export function isHiddenSecret(value: unknown): boolean {
  return findRecord(value)?.['set'] === true;
}

/** Parses the text of a number field. Other text is sent to the host unchanged, which reports the error. */
export function parseNumber(text: string, nullable: boolean): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return nullable ? null : '';
  const value = Number(trimmed);
  return Number.isNaN(value) ? trimmed : value;
}

/** Joins the error messages of a field and of its nested values. */
export function getErrors(
  field: Pick<SettingsField, 'name' | 'path'>,
  errors: Readonly<Record<string, string>>,
): string {
  const sentences = Object.entries(errors).flatMap(([path, message]) => {
    if (path === field.path || path === field.name) return [message];
    return path.startsWith(`${field.path}.`) ? [`${formatPath(path.slice(field.path.length + 1))}: ${message}`] : [];
  });
  return joinSentences(...sentences);
}

/** Formats a nested path for users: `0.name` is `row 1, name`. */
function formatPath(path: string): string {
  return path
    .split('.')
    .map((part) => (/^\d+$/.test(part) ? m.rowNumber({ number: Number(part) + 1 }) : part))
    .join(', ');
}

/** Builds a new row with the default value of each column. */
export function buildEmptyRow(columns: readonly Column[]): Record<string, unknown> {
  return Object.fromEntries(
    columns.map(({ name, schema, control }) => {
      if ('default' in schema) return [name, schema['default']];
      if (control.kind === 'switch') return [name, false];
      if (control.kind === 'lines') return [name, []];
      return [name, control.kind === 'choice' ? control.options[0]?.[0] : ''];
    }),
  );
}
