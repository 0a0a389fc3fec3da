import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Returns the path of a program that the test setup unpacked, otherwise that on the path. */
export function toolPath(name: string): string {
  const unpacked = fileURLToPath(new URL(`../../.cache/tools/${name}`, import.meta.url));
  return existsSync(unpacked) ? unpacked : name;
}
