import type { JsonSchema, SettingsField, SettingsView } from '../../../services/contracts/control/settings.ts';
import { toSchemaNode } from './json-schema.ts';
import type { Resolved, ResolvedSection } from './layers.ts';
import { redactSecrets } from './secrets.ts';
import type { Field } from './sections.ts';
import { writtenValue } from './settings.ts';

/** Builds the settings for the page and the API: without secrets, every value with its origin. */
export function buildSettingsView({ sections, problems, warnings }: Resolved): SettingsView {
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
  const value = redactSecrets(writtenValue(resolved, name), field.place);
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

/** The converted schema lacks a default behind a preprocessing step. */
function withDefault(schema: JsonSchema, field: Field): JsonSchema {
  if (Object.hasOwn(schema, 'default') || field.defaultValue === undefined) return schema;
  return { ...schema, default: redactSecrets(field.defaultValue, toSchemaNode(schema)) };
}
