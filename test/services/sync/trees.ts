import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns all files below a folder with their content. */
export function tree(folder: string, below = ''): Record<string, string> {
  if (!existsSync(join(folder, below))) return {};
  return Object.fromEntries(
    readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry): [string, string][] => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return Object.entries(tree(folder, path));
      return [[path, readFileSync(join(folder, path), 'utf8')]];
    }),
  );
}
