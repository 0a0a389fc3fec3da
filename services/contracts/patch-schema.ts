import { z } from 'zod';

type PatchShape<Shape extends z.ZodRawShape> = {
  [Name in keyof Shape]: z.ZodOptional<Shape[Name] extends z.ZodDefault<infer Inner> ? Inner : Shape[Name]>;
};

/**
 * The same fields for a request that changes only those it names. `partial()` alone would give each that is not named its
 * default, and the change would put it back to that.
 */
export function toPatchSchema<Shape extends z.ZodRawShape>(object: z.ZodObject<Shape>): z.ZodObject<PatchShape<Shape>> {
  const fields = Object.entries(object.shape).map(([name, field]) => [
    name,
    z.optional(field instanceof z.ZodDefault ? field.unwrap() : field),
  ]);
  return z.object(Object.fromEntries(fields) as PatchShape<Shape>);
}
