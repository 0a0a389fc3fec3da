import type { SettingsField } from '../../../../services/contracts/control/settings.ts';
import { controlFor } from './form.ts';

/** Fields that belong to one thing, such as `TorBox: API key` and `TorBox: address`. */
export interface FieldGroup {
  readonly title: string;
  /** Titled by what is behind the name of the thing. */
  readonly fields: readonly SettingsField[];
}

/**
 * Parts fields whose titles name the same thing before a colon, and those for which there is no form but JSON, from those that
 * stand alone.
 */
export function groupFields(fields: readonly SettingsField[]): {
  readonly alone: readonly SettingsField[];
  readonly groups: readonly FieldGroup[];
} {
  const written = fields.filter(({ schema }) => controlFor(schema).kind === 'json');
  const named = [...Map.groupBy(fields, ({ title }) => /^(.+?): /.exec(title)?.[1])];
  const groups: FieldGroup[] = named.flatMap(([title, some]) =>
    title !== undefined && some.length > 1
      ? [{ title, fields: some.map((field) => ({ ...field, title: begun(field.title.slice(title.length + 2)) })) }]
      : [],
  );
  if (written.length > 0) groups.push({ title: 'Written as JSON', fields: written });
  const grouped = new Set(groups.flatMap((group) => group.fields.map(({ path }) => path)));
  return { alone: fields.filter(({ path }) => !grouped.has(path)), groups };
}

function begun(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
