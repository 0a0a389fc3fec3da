// Finds the programs of packages by their files. Windows has only shell scripts (.cmd) in node_modules/.bin, which Node
// starts through a shell that splits paths at spaces.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../node_modules', import.meta.url));

/** Returns the JavaScript file of a package's program, which Node runs. */
export function getToolFile(packageName, program = packageName) {
  const { bin } = JSON.parse(readFileSync(join(modules, packageName, 'package.json'), 'utf8'));
  return join(modules, packageName, typeof bin === 'string' ? bin : bin[program]);
}
