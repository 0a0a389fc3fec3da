import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isClient, isPresent } from './requirements.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** Folders of which each file starts whole programs. */
const programs = ['desktop', 'e2e'];

/** A test file with everything that it and the modules of the tests below it declare with `needs`. */
export interface TestFile {
  /** Path from the root of the repository, with `/`. */
  readonly path: string;
  readonly needs: readonly string[];
}

interface Source {
  readonly needs: readonly string[];
  /** Modules of the tests that it imports at run time, as paths. */
  readonly imports: readonly string[];
}

/** Imports of values; `import type` and dynamic imports of other folders need nothing at run time. */
const importing = /^\s*(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'(\.{1,2}\/[^']+\.ts)'/gm;
const declaring = /^needs\(([^)]*)\)/gm;

const sources = new Map<string, Source>();

function readSource(path: string): Source {
  const existing = sources.get(path);
  if (existing !== undefined) return existing;
  const text = readFileSync(path, 'utf8');
  const source = {
    needs: [...text.matchAll(declaring)].flatMap(([, names = '']) =>
      [...names.matchAll(/'([^']+)'/g)].map(([, name = '']) => name),
    ),
    imports: [...text.matchAll(importing)]
      .map(([, target = '']) => join(dirname(path), target))
      .filter((target) => target.includes(`${sep}test${sep}`) && existsSync(target)),
  };
  sources.set(path, source);
  return source;
}

function collectNeeds(path: string, visited = new Set<string>()): ReadonlySet<string> {
  if (visited.has(path)) return new Set();
  visited.add(path);
  const { needs, imports } = readSource(path);
  return new Set([...needs, ...imports.flatMap((each) => [...collectNeeds(each, visited)])]);
}

/** Returns all test files below `test` in a folder with their requirements. */
export function readTestFiles(folder = repository): readonly TestFile[] {
  return globSync('test/**/*.test.ts', { cwd: folder })
    .map((path) => ({ path: path.replaceAll('\\', '/'), needs: [...collectNeeds(join(folder, path))].toSorted() }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns whether a file belongs to the suite of real clients, browsers and whole programs. */
export function isHeavy({ path, needs }: TestFile): boolean {
  return needs.some(isClient) || programs.some((folder) => path.startsWith(`test/${folder}/`));
}

/**
 * Returns the files that do not run on this computer. With `CI` set, files without their client run and fail; only what
 * the operating system cannot have is left out.
 */
export function findLeftOut(files: readonly TestFile[]): readonly TestFile[] {
  const isRequired = (name: string): boolean => process.env['CI'] === undefined || !isClient(name);
  return files.filter(({ needs }) => needs.some((name) => isRequired(name) && !isPresent(name)));
}
