import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { helpText } from '../main/host/cli/command-line.ts';
import { buildConfigurationPage } from '../main/host/config/documentation.ts';
import { registry } from '../main/host/services/registry.ts';

/** Generates docs/configuration.md. With `--check`, only sets exit code 1 if the page is out of date. */
const page = buildConfigurationPage(registry, helpText(registry));
const file =
  process.argv.slice(2).find((argument) => !argument.startsWith('--')) ??
  fileURLToPath(new URL('../docs/configuration.md', import.meta.url));

if (process.argv.includes('--check')) {
  const existing = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (existing !== page) {
    process.stderr.write(`${file} does not match the settings schemas; run: npm run docs\n`);
    process.exitCode = 1;
  }
} else {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, page);
}
