/**
 * Text for users in a definition: a message function, which is called when the text is shown and returns it in the
 * language of its reader, or a string that is the same in all languages, such as the name of a program.
 */
export type Text = string | (() => string);

/** Value after {@link readTexts}: strings in place of texts. */
export type ReadTexts<Value> = Value extends () => string
  ? string
  : Value extends object
    ? { -readonly [Key in keyof Value]: ReadTexts<Value[Key]> }
    : Value;

/** Returns a text in the current language. */
export function readText(text: Text): string {
  return typeof text === 'string' ? text : text();
}

/** Returns a copy of plain data with all of its texts in the current language. */
export function readTexts<Value>(value: Value): ReadTexts<Value> {
  return evaluate(value) as ReadTexts<Value>;
}

function evaluate(value: unknown): unknown {
  if (typeof value === 'function') return (value as () => string)();
  if (Array.isArray(value)) return value.map(evaluate);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, evaluate(each)]));
}
