import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dirname, join as joinPosix } from 'node:path/posix';

/** Specifiers of static, re-exporting, type-only and dynamic imports of files. */
const relativeImport = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/** Reads the sources below some folders, by their path from the root. */
export async function readSources(root: string, folders: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const sources = new Map<string, string>();
  for await (const path of glob(
    folders.map((folder) => `${folder}/**/*.{ts,svelte}`),
    { cwd: root },
  )) {
    sources.set(path.replaceAll('\\', '/'), await readFile(join(root, path), 'utf8'));
  }
  return sources;
}

/** Finds pairs of folders that import each other. A folder and a folder below it are no pair. */
export function findMutualFolders(sources: ReadonlyMap<string, string>): readonly string[] {
  const imports = new Set<string>();
  for (const [path, text] of sources) {
    const from = dirname(path);
    for (const [, specifier = ''] of text.matchAll(relativeImport)) {
      const to = dirname(joinPosix(from, specifier));
      if (!`${to}/`.startsWith(`${from}/`) && !`${from}/`.startsWith(`${to}/`)) imports.add(`${from} <-> ${to}`);
    }
  }
  return [...imports].filter((pair) => {
    const [from = '', to = ''] = pair.split(' <-> ');
    return from < to && imports.has(`${to} <-> ${from}`);
  });
}
