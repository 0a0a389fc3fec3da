import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findFolderCycles, listEdges, readFolderImports, readSources, reduceEdges } from '../scripts/folder-imports.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

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

describe('edges between folders', () => {
  it('are grouped, sorted and without those that follow from others', () => {
    const imports = new Map([
      ['b/x', new Set(['c/y', 'b/z'])],
      ['a/x', new Set(['b/x', 'c/y'])],
    ]);
    const edges = listEdges(imports, (folder) => folder.slice(0, 1));
    expect(edges).toEqual([
      ['a', 'b'],
      ['a', 'c'],
      ['b', 'c'],
    ]);
    expect(reduceEdges(edges)).toEqual([
      ['a', 'b'],
      ['b', 'c'],
    ]);
  });

  it('are all kept in a cycle', () => {
    const edges = [
      ['a', 'b'],
      ['b', 'a'],
    ] as const;
    expect(reduceEdges(edges)).toEqual(edges);
  });
});

const areas = [
  ...readdirSync(new URL('../services', import.meta.url)).map((id) => `services/${id}`),
  'main',
  'renderer',
];

describe('the folders of an area', () => {
  it.each(areas)('do not import each other in a cycle in %s', async (area) => {
    const sources = await readSources(root, [area]);
    expect(sources.size).toBeGreaterThan(5);
    expect(findFolderCycles(readFolderImports(sources))).toEqual([]);
  });

  it.each(areas.filter((area) => area.startsWith('services/')))(
    'never import an API as a feature in %s',
    async (area) => {
      const upward = [...readFolderImports(await readSources(root, [area]))].flatMap(([from, targets]) =>
        isApi(from) || from === area ? [] : [...targets].filter(isApi).map((to) => `${from} -> ${to}`),
      );
      expect(upward).toEqual([]);
    },
  );
});

/** Returns true for folders that serve clients: the APIs of peers and of the app, other HTTP listeners, and pages. */
function isApi(folder: string): boolean {
  return /^services\/(?!kit\/)[^/]+\/(?:[a-z-]+-api|http|sql|visitors)(?:\/|$)/.test(folder);
}
