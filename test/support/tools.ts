import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A program that the set-up of the tests unpacked, else the one of that name on the path. */
export function toolPath(name: string): string {
  const unpacked = fileURLToPath(new URL(`../../.cache/tools/${name}`, import.meta.url));
  return existsSync(unpacked) ? unpacked : name;
}
