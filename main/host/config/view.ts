import type { JsonSchema, SettingsField, SettingsView } from '../../../services/contracts/control/settings.ts';
import { placeOf } from './json-schema.ts';
import type { Resolved, ResolvedSection } from './layers.ts';
import { hideSecrets } from './secrets.ts';
import type { Field } from './sections.ts';
import { writtenValue } from './settings.ts';

/** The settings as the page and the API show them: no secret in it, every value with where it comes from. */
export function settingsView({ sections, problems, warnings }: Resolved): SettingsView {
  return {
    sections: [...sections.values()].map((resolved) => {
      const { id, title, summary, jsonSchema, fields } = resolved.section;
      return { id, title, summary, schema: jsonSchema, fields: fields.map((field) => fieldView(field, resolved)) };
    }),
    problems: [...problems],
    warnings: [...warnings],
  };
}

function fieldView(field: Field, resolved: ResolvedSection): SettingsField {
  const { name, path, title, description, schema, secret, live, advanced, area, group } = field;
  const origin = resolved.origins[name] ?? { from: 'default' };
  const value = hideSecrets(writtenValue(resolved, name), field.place);
  const lockedBy = 'name' in origin ? origin.name : null;
  return {
    name,
    path,
    title,
    description,
    schema: withDefault(schema, field),
    value,
    origin,
    lockedBy,
    secret,
    live,
    advanced,
    area,
    group,
  };
}

/** A default behind a preprocessing step is not in the schema as it was converted. */
function withDefault(schema: JsonSchema, field: Field): JsonSchema {
  if (Object.hasOwn(schema, 'default') || field.defaultValue === undefined) return schema;
  return { ...schema, default: hideSecrets(field.defaultValue, placeOf(schema)) };
}
