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

/** Folders by the folders that their files import. A folder does not count as a neighbor of the folders above it. */
export type FolderImports = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads the imports between folders from sources by path. */
export function readFolderImports(sources: ReadonlyMap<string, string>): FolderImports {
  const imports = new Map<string, Set<string>>();
  for (const [path, text] of sources) {
    const from = dirname(path);
    const targets = imports.get(from) ?? new Set();
    imports.set(from, targets);
    for (const [, specifier = ''] of text.matchAll(relativeImport)) {
      const to = dirname(joinPosix(from, specifier));
      if (!`${to}/`.startsWith(`${from}/`) && !`${from}/`.startsWith(`${to}/`)) targets.add(to);
    }
  }
  return imports;
}

/** Finds the groups of folders in which each folder reaches each other one through imports. */
export function findFolderCycles(imports: FolderImports): readonly (readonly string[])[] {
  const reachable = new Map([...imports.keys()].map((folder) => [folder, listReachable(imports, folder)]));
  const cycles = new Map<string, readonly string[]>();
  for (const [folder, targets] of reachable) {
    if (!targets.has(folder)) continue;
    const members = [...targets].filter((target) => reachable.get(target)?.has(folder) === true).toSorted();
    cycles.set(members.join(' '), members);
  }
  return [...cycles.values()];
}

function listReachable(imports: FolderImports, start: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const target of imports.get(folder) ?? []) {
      if (reached.has(target)) continue;
      reached.add(target);
      open.push(target);
    }
  }
  return reached;
}

/** Import from one folder, or group of folders, to another. */
export type Edge = readonly [from: string, to: string];

/** Lists the imports between groups of folders, without those inside of a group, in alphabetical order. */
export function listEdges(imports: FolderImports, getGroup: (folder: string) => string): readonly Edge[] {
  const edges = new Map<string, Edge>();
  for (const [folder, targets] of imports) {
    const from = getGroup(folder);
    for (const target of targets) {
      const to = getGroup(target);
      if (from !== to) edges.set(`${from} ${to}`, [from, to]);
    }
  }
  return [...edges].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, edge]) => edge);
}

/** Removes the edges that follow from others (transitive reduction). */
export function reduceEdges(edges: readonly Edge[]): readonly Edge[] {
  return edges.filter(([from, to]) => {
    const rest = edges.filter(([one, other]) => one !== from || other !== to);
    const targets = new Map<string, Set<string>>();
    for (const [one, other] of rest) targets.set(one, (targets.get(one) ?? new Set()).add(other));
    const isCycle = listReachable(targets, to).has(from);
    return isCycle || !listReachable(targets, from).has(to);
  });
}
