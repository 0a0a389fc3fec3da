import { z } from 'zod';

type PatchShape<Shape extends z.ZodRawShape> = {
  [Name in keyof Shape]: z.ZodOptional<Shape[Name] extends z.ZodDefault<infer Inner> ? Inner : Shape[Name]>;
};

/**
 * Returns the schema of a request that changes only the fields it contains. `partial()` alone would apply defaults to
 * missing fields, and so reset them.
 */
export function toPatchSchema<Shape extends z.ZodRawShape>(object: z.ZodObject<Shape>): z.ZodObject<PatchShape<Shape>> {
  const fields = Object.entries(object.shape).map(([name, field]) => [
    name,
    z.optional(field instanceof z.ZodDefault ? field.unwrap() : field),
  ]);
  return z.object(Object.fromEntries(fields) as PatchShape<Shape>);
}
