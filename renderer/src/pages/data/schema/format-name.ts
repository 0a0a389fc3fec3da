/** Formats the name of an object; the schema `public` is left out. */
export function formatName(schema: string, name: string): string {
  return schema === 'public' ? name : `${schema}.${name}`;
}
