import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { listEdges, readFolderImports, readSources, reduceEdges, type Edge } from './folder-imports.ts';

/** Generates docs/contributing/architecture.md. With `--check`, only sets exit code 1 if the page is out of date. */
const root = fileURLToPath(new URL('..', import.meta.url));
const file = fileURLToPath(new URL('../docs/contributing/architecture.md', import.meta.url));

/** Areas of the repository by the beginning of their folders; the first match applies. */
const areas: readonly (readonly [RegExp, string])[] = [
  [/^main\/(shell|desktop|host)(?=\/|$)/, 'main/$1'],
  [/^services\/(contracts|kit)(?=\/|$)/, 'services/$1'],
  [/^services\/[^/]+/, 'services/ID'],
  [/^renderer\/src\/(frame|pages|parts|state|api|icons)(?=\/|$)/, 'renderer/$1'],
];

/** Returns the area of a folder; empty for folders that the diagram leaves out. */
function findArea(folder: string): string {
  for (const [pattern, name] of areas) {
    const match = pattern.exec(folder);
    if (match !== null) return match[0].replace(pattern, name);
  }
  return '';
}

/** Draws edges from importing to imported folders, without those that follow from others. */
function drawDiagram(edges: readonly Edge[]): string {
  const names = [...new Set(edges.flat())].toSorted();
  const ids = new Map(names.map((name, index) => [name, `n${String(index)}`]));
  return [
    '```mermaid',
    'graph TD',
    ...names.map((name) => `  ${ids.get(name) ?? ''}["${name}"]`),
    ...reduceEdges(edges).map(([from, to]) => `  ${ids.get(from) ?? ''} --> ${ids.get(to) ?? ''}`),
    '```',
  ].join('\n');
}

async function buildAreaDiagram(): Promise<string> {
  const imports = readFolderImports(await readSources(root, ['main', 'services', 'renderer']));
  return drawDiagram(listEdges(imports, findArea).filter(([from, to]) => from !== '' && to !== ''));
}

/** Draws the folders of a service. The files at its top, which import all others, are left out. */
async function buildServiceDiagram(id: string): Promise<string> {
  const folder = `services/${id}`;
  const imports = readFolderImports(await readSources(root, [folder]));
  const getPart = (path: string): string => (path.startsWith(`${folder}/`) ? (path.split('/')[2] ?? '') : '');
  return drawDiagram(listEdges(imports, getPart).filter(([from, to]) => from !== '' && to !== ''));
}

async function buildPage(): Promise<string> {
  const entries = await readdir(`${root}/services`, { withFileTypes: true });
  const ids = entries.map(({ name }) => name).filter((name) => name !== 'contracts' && name !== 'kit');
  const diagrams = await Promise.all(ids.toSorted().map(async (id) => [id, await buildServiceDiagram(id)] as const));
  const sections = diagrams
    .filter(([, diagram]) => diagram.includes('-->'))
    .map(([id, diagram]) => `### ${id}\n\n${diagram}`);
  return [
    '# Architecture',
    'This page is generated from the imports by `npm run docs`. An arrow points from a folder to a folder that it imports. Arrows implied by others are left out: if A imports B and B imports C, there is no arrow from A to C.',
    '[CONTRIBUTING.md](../../CONTRIBUTING.md) explains what each folder is for and which imports are allowed; the [decisions](../decisions/README.md) give the reasons.',
    '## Areas',
    '`services/ID` represents any service. Only the registry in `main/host` imports services, and a service imports no other service.',
    await buildAreaDiagram(),
    '## Folders of each service',
    "The files at the top level of a service's folder, such as `index.ts`, create all parts of the service and are not shown. In each diagram, the `*-api` folders are at the top and the core folder is at the bottom.",
    ...sections,
  ].join('\n\n');
}

const page = await format(await buildPage(), { ...(await resolveConfig(file)), parser: 'markdown' });
if (!process.argv.includes('--check')) await writeFile(file, page);
else if ((await readFile(file, 'utf8').catch(() => '')) !== page) {
  process.stderr.write(`${file} does not match the imports; run: npm run docs\n`);
  process.exitCode = 1;
}
