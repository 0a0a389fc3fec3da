/**
 * Returns the file `name` beside the calling module for use as a thread or process. The packaged app contains
 * JavaScript files instead of TypeScript files.
 */
export function getThreadFile(name: string, from: string): URL {
  return new URL(`./${name}.${from.endsWith('.ts') ? 'ts' : 'js'}`, from);
}
