/** Parses JSON. Returns undefined for text that is not JSON; no JSON text has this value. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Parses JSON, with an optional reviver as in `JSON.parse`.
 *
 * @throws the error that `toError` builds from the error of the parser
 */
export function parseJsonOrThrow(
  text: string,
  toError: (cause: unknown) => Error,
  reviver?: (key: string, value: unknown) => unknown,
): unknown {
  try {
    return JSON.parse(text, reviver) as unknown;
  } catch (cause) {
    throw toError(cause);
  }
}
