import type { JsonSchema } from '../../../services/contracts/control/settings.ts';
import { isRecord } from '../../../services/contracts/is-record.ts';

/** Names that texts have in JSON Schema, by their names in the metadata of a setting. */
const schemaNames: Readonly<Record<string, string>> = { label: 'title', help: 'description' };

/**
 * Evaluates the texts of a setting in the current language: message functions become strings, and `label` and `help`
 * become `title` and `description`. For the option `override` of `z.toJSONSchema`.
 */
export function evaluateTexts(schema: JsonSchema): void {
  for (const [name, value] of Object.entries(schema)) {
    const evaluated = evaluate(value);
    const schemaName = schemaNames[name];
    if (schemaName !== undefined) {
      schema[schemaName] = evaluated;
      delete schema[name];
    } else if (evaluated !== value) schema[name] = evaluated;
  }
}

/** Evaluates a message function, or those of a record such as `choices`; other values stay. */
function evaluate(value: unknown): unknown {
  if (typeof value === 'function') return (value as () => string)();
  if (!isRecord(value) || !Object.values(value).some((each) => typeof each === 'function')) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, evaluate(each)]));
}
