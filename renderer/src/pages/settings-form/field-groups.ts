import * as m from '#messages/settings-form';
import { capitalize } from '../../../../messages/format.ts';
import type { SettingsField } from '../../../../services/contracts/control/settings.ts';
import { getControl, findRecord } from './fields/field-control.ts';

/** Fields with a common heading or a common prefix, such as `TorBox: API key` and `TorBox: address`. */
export interface FieldGroup {
  readonly title: string;
  /** Fields, titled without the common prefix. */
  readonly fields: readonly SettingsField[];
}

/** Groups fields by heading, in the order of first occurrence; those without one come first. */
export function groupByHeading(fields: readonly SettingsField[]): readonly FieldGroup[] {
  const headings = Map.groupBy(fields, ({ group }) => group);
  const single = headings.get('') ?? [];
  headings.delete('');
  return [
    ...(single.length === 0 ? [] : [{ title: '', fields: single }]),
    ...[...headings].map(([title, groupFieldList]) => ({ title, fields: groupFieldList })),
  ];
}

/** True when a field has an effect with the current values of its section, as defined by `needs` in the schema. */
export function isEffective({ schema }: SettingsField, getValue: (name: string) => unknown): boolean {
  return Object.entries(findRecord(schema['needs']) ?? {}).every(([name, requiredValue]) => {
    const value = getValue(name);
    if (Array.isArray(requiredValue)) return requiredValue.includes(value);
    return value !== '' && value !== null && value !== undefined;
  });
}

/**
 * Separates groups of fields from single ones: those with a heading, with a common prefix, or editable only as JSON.
 */
export function groupFields(fields: readonly SettingsField[]): {
  readonly alone: readonly SettingsField[];
  readonly groups: readonly FieldGroup[];
} {
  const jsonFields = fields.filter(({ schema }) => getControl(schema).kind === 'json');
  const headingGroups = groupByHeading(fields.filter(({ group }) => group !== '')).map(
    ({ title, fields: groupFieldList }) => ({
      title,
      fields: groupFieldList.filter((field) => !jsonFields.includes(field)),
    }),
  );
  const withoutHeading = fields.filter(({ group }) => group === '');
  const byPrefix = [...Map.groupBy(withoutHeading, ({ title }) => /^(.+?): /.exec(title)?.[1])];
  const prefixGroups: FieldGroup[] = byPrefix.flatMap(([title, groupFieldList]) =>
    title !== undefined && groupFieldList.length > 1
      ? [
          {
            title,
            fields: groupFieldList.map((field) => ({
              ...field,
              title: capitalize(field.title.slice(title.length + 2)),
            })),
          },
        ]
      : [],
  );
  const groups = [...headingGroups.filter(({ fields: groupFieldList }) => groupFieldList.length > 0), ...prefixGroups];
  if (jsonFields.length > 0) groups.push({ title: m.jsonGroup(), fields: jsonFields });
  const groupedPaths = new Set(groups.flatMap((group) => group.fields.map(({ path }) => path)));
  return { alone: fields.filter(({ path }) => !groupedPaths.has(path)), groups };
}
