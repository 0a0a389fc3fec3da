import type { SettingsField } from '../../../../services/contracts/control/settings.ts';
import { controlFor, record } from './form.ts';

/** Fields that belong to one thing: by their heading, or as `TorBox: API key` and `TorBox: address` do. */
export interface FieldGroup {
  readonly title: string;
  /** Titled by what is behind the name of the thing. */
  readonly fields: readonly SettingsField[];
}

/** The fields under their headings, in the order in which these come first; those under none stand before all others. */
export function underHeadings(fields: readonly SettingsField[]): readonly FieldGroup[] {
  const headings = Map.groupBy(fields, ({ group }) => group);
  const alone = headings.get('') ?? [];
  headings.delete('');
  return [
    ...(alone.length === 0 ? [] : [{ title: '', fields: alone }]),
    ...[...headings].map(([title, some]) => ({ title, fields: some })),
  ];
}

/**
 * Whether a field does anything while others of its section have the values they have, which `valueOf` tells by name: see
 * `needs` of a schema.
 */
export function isOfUse({ schema }: SettingsField, valueOf: (name: string) => unknown): boolean {
  return Object.entries(record(schema['needs']) ?? {}).every(([name, wanted]) => {
    const value = valueOf(name);
    if (Array.isArray(wanted)) return wanted.includes(value);
    return value !== '' && value !== null && value !== undefined;
  });
}

/**
 * Parts fields that have a heading, those whose titles name the same thing before a colon, and those for which there is no form but JSON, from those that
 * stand alone.
 */
export function groupFields(fields: readonly SettingsField[]): {
  readonly alone: readonly SettingsField[];
  readonly groups: readonly FieldGroup[];
} {
  const written = fields.filter(({ schema }) => controlFor(schema).kind === 'json');
  const headed = underHeadings(fields.filter(({ group }) => group !== '')).map(({ title, fields: some }) => ({
    title,
    fields: some.filter((field) => !written.includes(field)),
  }));
  const others = fields.filter(({ group }) => group === '');
  const named = [...Map.groupBy(others, ({ title }) => /^(.+?): /.exec(title)?.[1])];
  const alike: FieldGroup[] = named.flatMap(([title, some]) =>
    title !== undefined && some.length > 1
      ? [{ title, fields: some.map((field) => ({ ...field, title: begun(field.title.slice(title.length + 2)) })) }]
      : [],
  );
  const groups = [...headed.filter(({ fields: some }) => some.length > 0), ...alike];
  if (written.length > 0) groups.push({ title: 'Written as JSON', fields: written });
  const grouped = new Set(groups.flatMap((group) => group.fields.map(({ path }) => path)));
  return { alone: fields.filter(({ path }) => !grouped.has(path)), groups };
}

function begun(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
