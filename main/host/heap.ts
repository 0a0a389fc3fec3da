/** After a start its own engines and files are looked at; then it is quiet. */
export const afterStartMs = 5000;

/**
 * Gives back what the start left in the heap, a fifth of it: V8 does so only under pressure, which an idle host never
 * makes. It takes a tenth of a second of the loop, once. Nothing happens where Node was not told to `--expose-gc`.
 */
export function giveBackMemory(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
