import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findFolderCycles, readFolderImports } from './support/folder-cycles.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

async function readService(id: string): Promise<ReadonlyMap<string, string>> {
  const sources = new Map<string, string>();
  for await (const path of glob(`services/${id}/**/*.ts`, { cwd: root })) {
    sources.set(path.replaceAll('\\', '/'), await readFile(join(root, path), 'utf8'));
  }
  return sources;
}

describe('findFolderCycles', () => {
  it('finds folders that import each other directly and through others', () => {
    const imports = readFolderImports(
      new Map([
        ['a/one.ts', "import { two } from '../b/two.ts';"],
        ['b/two.ts', "export type { Three } from '../c/three.ts';"],
        ['c/three.ts', "const load = () => import('../a/one.ts');"],
        ['d/four.ts', "import '../a/one.ts';\nimport type { Five } from '../e/five.ts';"],
        ['e/five.ts', "import type { Four } from '../d/four.ts';"],
      ]),
    );
    expect(findFolderCycles(imports)).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
  });

  it('accepts imports in one direction and between a folder and its subfolders', () => {
    const imports = readFolderImports(
      new Map([
        ['a/index.ts', "import { one } from './part/one.ts';\nimport { two } from '../b/two.ts';"],
        ['a/part/one.ts', "import type { Settings } from '../index.ts';"],
        ['b/two.ts', ''],
      ]),
    );
    expect(findFolderCycles(imports)).toEqual([]);
  });
});

describe('folders of a service', () => {
  it.each(['addons', 'control', 'downloads', 'inbox', 'popups', 'push', 'sync', 'uptime'])(
    'do not import each other in a cycle in %s',
    async (id) => {
      const sources = await readService(id);
      expect(sources.size).toBeGreaterThan(5);
      expect(findFolderCycles(readFolderImports(sources))).toEqual([]);
    },
  );

  it.each(['addons', 'downloads', 'push', 'sync', 'uptime'])('never import an API as a feature in %s', async (id) => {
    const upward = [...readFolderImports(await readService(id))].flatMap(([from, targets]) =>
      isApi(from) || from === `services/${id}` ? [] : [...targets].filter(isApi).map((to) => `${from} -> ${to}`),
    );
    expect(upward).toEqual([]);
  });
});

function isApi(folder: string): boolean {
  return /^services\/[^/]+\/[a-z-]+-api(\/|$)/.test(folder);
}
