import { z } from 'zod';

/** Parses a value with a schema. A schema that throws, as a transformation may, counts as a validation error. */
export function parse<T>(
  schema: z.core.$ZodType<T>,
  value: unknown,
): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: unknown } {
  try {
    return z.safeParse(schema, value);
  } catch (error) {
    return { success: false, error };
  }
}
