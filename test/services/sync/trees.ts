import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** All files below a folder, with what is in them. */
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
