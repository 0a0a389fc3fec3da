import { z } from 'zod';

/** What a schema makes of a value. One that throws, as a transformation of it may, refuses the value like any other. */
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
