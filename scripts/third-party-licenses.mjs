// Collects the licenses of packages whose code is part of a bundle; most of them require that their text comes along.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const licenseFile = /^(licen[cs]e|copying|notice)/i;
const rule = `\n${'-'.repeat(80)}\n\n`;

/**
 * Returns the names, versions and license texts of the packages that contain the modules, as one text.
 *
 * @param {readonly string[]} modules Paths of modules; those outside of `node_modules` are ignored.
 */
export function collectLicenses(modules) {
  const folders = new Set(modules.flatMap((module) => findPackage(module) ?? []));
  const entries = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return {
      title: `${name} ${version} (${typeof license === 'string' ? license : 'see below'})`,
      text: readTexts(folder),
    };
  });
  const sorted = entries.toSorted((a, b) => a.title.localeCompare(b.title, 'en'));
  return sorted.map(({ title, text }) => [title, text].filter(Boolean).join('\n\n')).join(rule);
}

/** Finds the folder of the package that contains a module. Nested package.json files may lack a name. */
function findPackage(module) {
  if (!module.includes('node_modules')) return undefined;
  for (let folder = dirname(module); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version !== undefined) return folder;
  }
  return undefined;
}

function readTexts(folder) {
  const names = readdirSync(folder).filter((name) => licenseFile.test(name));
  return names.map((name) => readFileSync(join(folder, name), 'utf8').trim()).join('\n\n');
}
