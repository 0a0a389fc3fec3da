/**
 * Returns the address of the file `name` beside the module that runs it as a thread or a process. The packed app has
 * JavaScript files instead of TypeScript ones.
 */
export function getThreadFile(name: string, from: string): URL {
  return new URL(`./${name}.${from.endsWith('.ts') ? 'ts' : 'js'}`, from);
}
